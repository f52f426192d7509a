/**
 * Runs that a child has been sent before its current job has ended, so that it does not idle until the server has read
 * its answer. The child begins them in order, one after the other. It gives back what it has not begun when it is asked
 * (`recall`), and by itself where the server must read an answer first (`Done.dropped`).
 */
import type { Child } from "../process/child.ts";
import { createRunMessage } from "../process/run-message.ts";
import type { RunnerOptions } from "../types.ts";
import type { Prefetched, QueuedRun } from "./queued-run.ts";

/** A child is sent runs ahead once this many have been quick and have printed nothing. */
const MIN_QUICK_RUNS = 100;
const MAX_RUNS = 8;
/** Longer arguments are sent when their turn has come. */
const MAX_CHARACTERS = 10_000;

export class Prefetch {
  /** In the order in which the child begins them. */
  readonly runs: Prefetched[] = [];
  #isRecalling = false;

  /** Whether the child may be sent a further run. */
  isOpen(child: Child): boolean {
    const { quick_runs, output } = child;
    return (
      quick_runs >= MIN_QUICK_RUNS &&
      this.runs.length < MAX_RUNS &&
      !this.#isRecalling &&
      !output.secrets.isFull
    );
  }

  /** Sends a run of the child's key. @returns false if it has to wait for its turn */
  send(child: Child, run: QueuedRun, options: RunnerOptions): boolean {
    const { request } = run;
    if (request.shared !== undefined || request.args.length > MAX_CHARACTERS) return false;
    const token = child.tokens!.begin(request.job_id);
    child.token = token;
    try {
      child.sendLater(createRunMessage(child, request, options));
    } catch {
      // The child is lost.
      child.tokens!.end(token);
      return false;
    }
    child.environment = request.environment;
    this.runs.push({ run, token, sequence: child.runs_sent });
    return true;
  }

  /** Asks the child for what it has not begun. It answers when its job lets it. */
  recall(child: Child): void {
    if (this.#isRecalling) return;
    this.#isRecalling = true;
    try {
      child.sendLater({ t: "recall" });
    } catch {
      // The child is lost, and its end returns the runs.
    }
  }

  /** The child has answered a recall. */
  endRecall(): void {
    this.#isRecalling = false;
  }

  /** Takes the first `count` runs, which the child has forgotten or will never begin. */
  takeBack(child: Child, count: number): Prefetched[] {
    const returned = this.runs.splice(0, count);
    for (const { token } of returned) child.tokens?.end(token);
    return returned;
  }

  includes(job_id: string): boolean {
    return this.runs.some(({ run }) => run.request.job_id === job_id);
  }
}
