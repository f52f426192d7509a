import type { Tx } from "../../../database/database.ts";
import type { JobError } from "../../../engines/runner/types.ts";
import type { JobStatus } from "../../../platform/queue/states.ts";
import type { Job } from "../../../platform/queue/tables.ts";

/** The outcome of a job, to be stored. */
export interface JobOutcome {
  status: JobStatus;
  /** JSON text. */
  result: string;
  mem_peak_kb?: number | undefined;
  preprocessed_args?: string | undefined;
  /** Runs in the transaction that stores the outcome. */
  inTransaction?: ((tx: Tx) => Promise<void>) | undefined;
}

export function createFailure(error: JobError): JobOutcome {
  return { status: "failure", result: JSON.stringify({ error }) };
}

/** Whether the job resolves dependencies of a script or flow. */
export function isDependencyJob({ kind }: Job): boolean {
  return kind === "dependencies" || kind === "flowdependencies";
}
