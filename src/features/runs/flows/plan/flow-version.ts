import { eq, inArray, sql } from "drizzle-orm";
import type { Tx } from "../../../../database/database.ts";
import { flowFrames } from "../../../code/flows/tables.ts";

/**
 * Invalidates transitions of a flow run that are in progress, so that they are repeated: the caller's transaction
 * changes data that they have read.
 * @param frame any frame of the run; ignored if the job has none
 */
export async function raiseFlowVersion(tx: Tx, frame: string): Promise<void> {
  const { job_id, root_job, version } = flowFrames;
  const root = tx.select({ id: root_job }).from(flowFrames).where(eq(job_id, frame));
  await tx
    .update(flowFrames)
    .set({ version: sql`${version} + 1` })
    .where(inArray(job_id, root));
}
