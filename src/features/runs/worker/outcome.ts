import type { Tx } from "../../../database/database.ts";
import type { JobError } from "../../../engines/runner/types.ts";
import type { JobStatus } from "../../../platform/queue/states.ts";
import type { Job } from "../../../platform/queue/tables.ts";

/** How a job ended, as it is stored. */
export interface Ending {
  status: JobStatus;
  /** JSON text. */
  result: string;
  mem_peak_kb?: number | undefined;
  preprocessed_args?: string | undefined;
  /** Stored in the same transaction. */
  also?: ((tx: Tx) => Promise<void>) | undefined;
}

export function failure(error: JobError): Ending {
  return { status: "failure", result: JSON.stringify({ error }) };
}

/** Whether it resolves the dependencies of something deployed. */
export function isLockJob({ kind }: Job): boolean {
  return kind === "dependencies" || kind === "flowdependencies";
}
