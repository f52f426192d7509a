/** Deletes the flow state of deleted jobs. */
import { inArray } from "drizzle-orm";
import type { Tx } from "../../../../database/database.ts";
import { flowFrames, flowItems, flowResumes, flowUserStates } from "../../../code/flows/tables.ts";

/** Deletes frames, loop items, answers and user states. @param job_ids at most as many as one statement takes */
export async function deleteFlowState(tx: Tx, job_ids: string[]): Promise<void> {
  for (const table of [flowFrames, flowItems, flowResumes, flowUserStates]) {
    await tx.delete(table).where(inArray(table.job_id, job_ids));
  }
}
