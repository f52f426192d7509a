import type { RunOutcome, RunRequest } from "../types.ts";

/** A run that the runner was asked for. */
export interface QueuedRun {
  readonly request: RunRequest;
  /** What a child must be to run it: its version, workspace, identity and caller. */
  readonly key: string;
  readonly signal: AbortSignal;
  resolve: (outcome: RunOutcome) => void;
  /** Effect of an abort: dequeues the run while it waits, later stops it. */
  cancel: () => void;
}

/** A run that was sent to a child before the child's current job has ended. */
export interface Prefetched {
  readonly run: QueuedRun;
  readonly token: string;
  /** Its number among the runs that were sent to the child. */
  readonly sequence: number;
}
