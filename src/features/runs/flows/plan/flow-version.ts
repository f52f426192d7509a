import { eq, inArray, sql } from "drizzle-orm";
import type { Tx } from "../../../../database/database.ts";
import { flowFrames } from "../../../code/flows/tables.ts";

/**
 * Makes transitions of a flow run that have begun fail and be repeated: what they have read is about to change in this
 * transaction.
 * @param frame any frame of the run; a job that is none is ignored
 */
export async function raiseFlowVersion(tx: Tx, frame: string): Promise<void> {
  const { job_id, root_job, version } = flowFrames;
  const root = tx.select({ id: root_job }).from(flowFrames).where(eq(job_id, frame));
  await tx
    .update(flowFrames)
    .set({ version: sql`${version} + 1` })
    .where(inArray(job_id, root));
}
