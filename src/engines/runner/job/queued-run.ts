import type { StopRequest } from "../../../lib/async/sleep.ts";
import type { RunOutcome, RunRequest } from "../types.ts";

/** What holds a run: the queue, a build, a child that received it in advance, or the run of its job. */
export interface RunHolder {
  /** Takes the run out, or stops it. */
  cancelRun(run: QueuedRun): void;
}

/** A run requested from the runner. */
export class QueuedRun {
  readonly request: RunRequest;
  /** Key that its child must have: version, workspace, identity and caller. */
  readonly key: string;
  readonly stop: StopRequest;
  holder: RunHolder | undefined;
  readonly #resolve: (outcome: RunOutcome) => void;

  constructor(request: RunRequest, key: string, stop: StopRequest, resolve: (outcome: RunOutcome) => void) {
    this.request = request;
    this.key = key;
    this.stop = stop;
    this.#resolve = resolve;
    stop.onAbort = () => this.holder?.cancelRun(this);
  }

  resolve(outcome: RunOutcome): void {
    this.stop.onAbort = undefined;
    this.#resolve(outcome);
  }
}

/** A run that was sent to a child before the child's current job ended. */
export interface Prefetched {
  readonly run: QueuedRun;
  readonly token: string;
  /** Its sequence number among the runs of the child. */
  readonly sequence: number;
}
