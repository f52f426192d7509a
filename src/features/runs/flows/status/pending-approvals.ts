/** Counts the approvals that flows wait for. */
import { and, inArray, isNotNull, sql } from "drizzle-orm";
import type { FrameState } from "../../../../engines/flow-engine/state.ts";
import type { App } from "../../../../platform/app/context.ts";
import { flowFrames } from "../../../code/flows/tables.ts";
import { listApprovers } from "./approvers.ts";

/** SQL condition for frames that wait for approval, by the engine's state. */
export const isWaitingForApproval = and(
  isNotNull(flowFrames.wake_at),
  sql`${flowFrames.state} LIKE '%"for":"events"%'`,
);

/** Flow ids in one query. */
const BATCH_SIZE = 500;

/** Counts the approvals still missing for each job that is a waiting flow. */
export async function countPendingApprovals(app: App, ids: readonly string[]): Promise<Map<string, number>> {
  const awaited = new Map<string, number>();
  for (let at = 0; at < ids.length; at += BATCH_SIZE) {
    const frames = await app.db.read
      .select()
      .from(flowFrames)
      .where(and(inArray(flowFrames.job_id, ids.slice(at, at + BATCH_SIZE)), isWaitingForApproval));
    for (const { job_id, state } of frames) {
      const { waits, modules, step } = state as Partial<FrameState>;
      const job = modules?.[step ?? 0]?.job;
      if (waits?.for !== "events" || !job) continue;
      awaited.set(job_id, waits.approval.required_events - (await listApprovers(app, job)).length);
    }
  }
  return awaited;
}
