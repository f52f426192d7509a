/** What is kept of a flow's run beside its jobs goes with them. */
import { inArray } from "drizzle-orm";
import type { Tx } from "../../../../database/database.ts";
import { flowFrames, flowItems, flowResumes, flowUserStates } from "../../../code/flows/tables.ts";

/** @param job_ids at most as many as one statement takes */
export async function forgetRuns(tx: Tx, job_ids: string[]): Promise<void> {
  for (const table of [flowFrames, flowItems, flowResumes, flowUserStates]) {
    await tx.delete(table).where(inArray(table.job_id, job_ids));
  }
}
