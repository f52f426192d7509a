/**
 * Runs sent to a child before its current job has ended (prefetching), so that it does not idle until the server has
 * read its answer. The child runs them in order, one at a time. It returns those that it has not started when asked
 * (`recall`), and by itself when the server must read an answer first (`Done.dropped`).
 */
import { sleep } from "../../../lib/async/sleep.ts";
import { yieldToEventLoop } from "../../../lib/async/time-slices.ts";
import { isCount } from "../output/validate-answer.ts";
import type { Child } from "../process/child.ts";
import { createRunMessage } from "../process/run-message.ts";
import type { FromChild, RecallReply } from "../protocol.ts";
import type { RunnerOptions } from "../types.ts";
import type { Prefetched, QueuedRun } from "./queued-run.ts";

/** A child receives runs in advance after this many quick runs in a row that printed nothing. */
const MIN_QUICK_RUNS = 100;
/** Time that a child needs per run in addition to the script's own. */
const OVERHEAD_MS = 0.03;
const MAX_RUNS = 32;
/** The same while another slot is free: a run that blocks its process holds up those behind it. */
const MAX_RUNS_BESIDE_FREE_SLOT = 16;
/** A child that does not answer a recall within this time is busy with its current job. */
const RECALL_TIMEOUT_MS = 50;
/** Arguments longer than this are not sent in advance. */
const MAX_CHARACTERS = 10_000;

export class Prefetch {
  /** In the order in which the child runs them. */
  readonly runs: Prefetched[] = [];
  /** Messages that follow an answer that is still being processed; they belong to `runs`, or to none. */
  readonly unread: FromChild[] = [];
  /** Whether an answer is being processed. */
  isHeld = false;
  /** Number of the recall that the child has not answered. */
  #recall: number | undefined;

  /**
   * Whether the child may receive a further run: never while one of its jobs calls the server, since that may wait for
   * this run. @param isFree whether another slot is free
   */
  isOpen(child: Child, isFree: boolean): boolean {
    const { pace, output, shared, tokens } = child;
    return (
      (isFree ? pace.very_quick_runs : pace.quick_runs) >= MIN_QUICK_RUNS &&
      this.runs.length < (isFree ? MAX_RUNS_BESIDE_FREE_SLOT : MAX_RUNS) &&
      shared === undefined &&
      !tokens!.areUsed() &&
      this.#recall === undefined &&
      !output.secrets.isFull
    );
  }

  /** Returns the milliseconds that the child needs for its job and the prefetched ones, at its average. */
  backlogMs({ pace }: Child): number {
    return (this.runs.length + 1) * (pace.average_ms + OVERHEAD_MS);
  }

  /** Sends a run with the child's key. @returns false if it must wait in the queue */
  send(child: Child, run: QueuedRun, options: RunnerOptions): boolean {
    const { request } = run;
    if (request.shared !== undefined || request.args.length > MAX_CHARACTERS) return false;
    const token = child.tokens!.begin(request.job_id);
    child.token = token;
    try {
      child.sendLater({ ...createRunMessage(child, request, options), ahead: true });
    } catch {
      // The child is gone.
      child.tokens!.end(token);
      return false;
    }
    child.environment = request.environment;
    this.runs.push({ run, token, sequence: child.runs_sent });
    return true;
  }

  /** Asks the child for the runs that it has not started. It answers as soon as its job lets it read the message. */
  recall(child: Child): void {
    if (this.#recall !== undefined) return;
    this.#recall = ++child.recalls_sent;
    try {
      child.sendLater({ t: "recall", number: this.#recall });
    } catch {
      // The child is gone; its end returns the runs.
    }
  }

  /** Recalls and waits until an answer has had its time, and what the child has sent until then has been read. */
  async tryRecall(child: Child): Promise<void> {
    this.recall(child);
    await sleep(RECALL_TIMEOUT_MS);
    await yieldToEventLoop();
  }

  /** Takes back the first `count` runs, which the child has dropped or will never start; it runs those sent later. */
  takeBack(child: Child, count: number): Prefetched[] {
    return this.#takeBackFrom(child, 0, count);
  }

  /**
   * Called when the child has answered a recall. It has dropped the last `count` runs: none was sent since. It may have
   * run those before them already, even if its answers have not been processed yet. The answer to a recall of runs that
   * have all ended may arrive when the child has received others.
   * @returns the dropped runs; undefined if it is not an answer to the current recall
   */
  endRecall(child: Child, { number, count }: RecallReply): Prefetched[] | undefined {
    if (this.#recall === undefined || number !== this.#recall || !isCount(count)) return undefined;
    this.#recall = undefined;
    return this.#takeBackFrom(child, Math.max(0, this.runs.length - count), count);
  }

  #takeBackFrom(child: Child, from: number, count: number): Prefetched[] {
    const returned = this.runs.splice(from, count);
    for (const { token } of returned) child.tokens?.end(token);
    return returned;
  }

  includes(job_id: string): boolean {
    return this.runs.some(({ run }) => run.request.job_id === job_id);
  }
}
