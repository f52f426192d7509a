/** How many approvals flows wait for. */
import { and, inArray, isNotNull, sql } from "drizzle-orm";
import type { FrameState } from "../../../../engines/flow-engine/state.ts";
import type { App } from "../../../../platform/app/context.ts";
import { flowFrames } from "../../../code/flows/tables.ts";
import { approversOf } from "./approvers.ts";

/** The frames that wait for approvals; the engine says so in its state. */
export const waitsForApproval = and(
  isNotNull(flowFrames.wake_at),
  sql`${flowFrames.state} LIKE '%"for":"events"%'`,
);

/** Flows' ids at once. */
const CHUNK = 500;

/** How many approvals each of these jobs still waits for, as far as they are flows that do. */
export async function awaitedBy(app: App, ids: readonly string[]): Promise<Map<string, number>> {
  const awaited = new Map<string, number>();
  for (let at = 0; at < ids.length; at += CHUNK) {
    const frames = await app.db.read
      .select()
      .from(flowFrames)
      .where(and(inArray(flowFrames.job_id, ids.slice(at, at + CHUNK)), waitsForApproval));
    for (const { job_id, state } of frames) {
      const { waits, modules, step } = state as Partial<FrameState>;
      const job = modules?.[step ?? 0]?.job;
      if (waits?.for !== "events" || !job) continue;
      awaited.set(job_id, waits.approval.required_events - (await approversOf(app, job)).length);
    }
  }
  return awaited;
}
