import type { StopRequest } from "../../../lib/async/sleep.ts";
import type { RunOutcome, RunRequest } from "../types.ts";

/** A run requested from the runner. */
export interface QueuedRun {
  readonly request: RunRequest;
  /** Key that its child must have: version, workspace, identity and caller. */
  readonly key: string;
  readonly stop: StopRequest;
  resolve: (outcome: RunOutcome) => void;
  /** Called on abort: removes the run from the queue while it waits, later stops it. */
  cancel: () => void;
}

/** A run that was sent to a child before the child's current job ended. */
export interface Prefetched {
  readonly run: QueuedRun;
  readonly token: string;
  /** Its sequence number among the runs of the child. */
  readonly sequence: number;
}
