/** Deletes the flow state of deleted jobs. */
import { inArray } from "drizzle-orm";
import type { Tx } from "../../../../database/database.ts";
import { flowFrames, flowItems, flowResumes, flowUserStates } from "../../../code/flows/tables.ts";

/** Columns with the id of the job that the flow state belongs to. */
export const FLOW_STATE_COLUMNS = [flowFrames, flowItems, flowResumes, flowUserStates].map(
  ({ job_id }) => job_id,
);

/** Deletes frames, loop items, answers and user states. @param job_ids at most as many as one statement takes */
export async function deleteFlowState(tx: Tx, job_ids: string[]): Promise<void> {
  for (const column of FLOW_STATE_COLUMNS) await tx.delete(column.table).where(inArray(column, job_ids));
}
