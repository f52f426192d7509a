/**
 * Runs sent to a child before its current job has ended (prefetching), so that it does not idle until the server has
 * read its answer. The child runs them in order, one at a time. It returns those that it has not started when asked
 * (`recall`), and by itself when the server must read an answer first (`Done.dropped`).
 */
import type { Child } from "../process/child.ts";
import { createRunMessage } from "../process/run-message.ts";
import type { RunnerOptions } from "../types.ts";
import type { Prefetched, QueuedRun } from "./queued-run.ts";

/** A child receives runs in advance after this many quick runs in a row that printed nothing. */
const MIN_QUICK_RUNS = 100;
const MAX_RUNS = 8;
/** Arguments longer than this are not sent in advance. */
const MAX_CHARACTERS = 10_000;

export class Prefetch {
  /** In the order in which the child runs them. */
  readonly runs: Prefetched[] = [];
  #isRecalling = false;

  /** Whether the child may receive a further run. */
  isOpen(child: Child): boolean {
    const { quick_runs, output } = child;
    return (
      quick_runs >= MIN_QUICK_RUNS &&
      this.runs.length < MAX_RUNS &&
      !this.#isRecalling &&
      !output.secrets.isFull
    );
  }

  /** Sends a run with the child's key. @returns false if it must wait in the queue */
  send(child: Child, run: QueuedRun, options: RunnerOptions): boolean {
    const { request } = run;
    if (request.shared !== undefined || request.args.length > MAX_CHARACTERS) return false;
    const token = child.tokens!.begin(request.job_id);
    child.token = token;
    try {
      child.sendLater(createRunMessage(child, request, options));
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
    if (this.#isRecalling) return;
    this.#isRecalling = true;
    try {
      child.sendLater({ t: "recall" });
    } catch {
      // The child is gone; its end returns the runs.
    }
  }

  /** Called when the child has answered a recall. */
  endRecall(): void {
    this.#isRecalling = false;
  }

  /** Takes back the first `count` runs, which the child has dropped or will never start. */
  takeBack(child: Child, count: number): Prefetched[] {
    const returned = this.runs.splice(0, count);
    for (const { token } of returned) child.tokens?.end(token);
    return returned;
  }

  includes(job_id: string): boolean {
    return this.runs.some(({ run }) => run.request.job_id === job_id);
  }
}
