/**
 * The next run of an enabled schedule, as a job in state `planned`: lists and the queue show it, and it can be
 * canceled. No worker claims it, and it does not count towards limits. When the schedule is due, `run-schedule.ts`
 * replaces the row by the job that runs, which keeps the id. Each change of a schedule's next time is followed by
 * `planNextRun` in the same transaction. That transaction has changed the schedule's row before and so holds its
 * lock: there is one planned job per schedule.
 */
import { and, desc, eq, sql } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import { createUuid } from "../../../lib/text/ids.ts";
import type { App } from "../../../platform/app/context.ts";
import type { JobEndListener } from "../../../platform/app/job-ends.ts";
import { insertJob } from "../../../platform/queue/job-store.ts";
import { jobs } from "../../../platform/queue/tables.ts";
import { flows } from "../../code/flows/tables.ts";
import { scripts } from "../../code/scripts/tables.ts";
import { renderTagTemplate } from "../../runs/arguments/tag-template.ts";
import { computeNextRunTime } from "./cron/cron.ts";
import { getScheduler } from "./get-scheduler.ts";
import { type Schedule, schedules } from "./tables.ts";

type Place = Pick<Schedule, "workspace_id" | "path">;

/** Matches the planned job of a schedule. The state is a literal, as the partial index needs it. */
export const isPlannedFor = ({ workspace_id, path }: Place) =>
  and(sql`${jobs.state} = 'planned'`, eq(jobs.workspace_id, workspace_id), eq(jobs.schedule_path, path));

/** Removes the planned job of a schedule. */
export async function removePlannedRun(tx: Tx, place: Place): Promise<void> {
  await tx.delete(jobs).where(isPlannedFor(place));
}

/** Stores the planned job of a schedule, replacing the previous one; stores none without a next time. */
export async function planNextRun(app: App, tx: Tx, row: Schedule): Promise<void> {
  await removePlannedRun(tx, row);
  if (!row.next_at) return;
  const args = JSON.stringify(row.args);
  const { language, tag, isHidden } = await findDeployed(tx, row);
  await insertJob(tx, {
    id: createUuid(),
    workspace_id: row.workspace_id,
    kind: row.is_flow ? "flow" : "script",
    state: "planned",
    created_by: `schedule-${row.path}`,
    permissioned_as: `u/${row.edited_by}`,
    email: row.email,
    created_at: app.clock(),
    scheduled_for: row.next_at,
    script_path: row.script_path,
    language,
    tag: renderTagTemplate(tag, { workspace_id: row.workspace_id, args }),
    // The run itself encrypts password arguments, and is read with its own rights; all other fields come from the
    // schedule.
    args: "{}",
    visible_to_owner: !isHidden,
    trigger_kind: "schedule",
    schedule_path: row.path,
  });
}

/** Finds the version deployed now; the run uses the version deployed when it starts. */
async function findDeployed(tx: Tx, { workspace_id, script_path, is_flow, tag }: Schedule) {
  if (is_flow) {
    const [flow] = await tx
      .select({ isHidden: flows.visible_to_runner_only })
      .from(flows)
      .where(and(eq(flows.workspace_id, workspace_id), eq(flows.path, script_path)));
    return { language: null, tag: tag || "flow", isHidden: flow?.isHidden ?? false };
  }
  const [script] = await tx
    .select({ language: scripts.language, tag: scripts.tag, isHidden: scripts.visible_to_runner_only })
    .from(scripts)
    .where(
      and(eq(scripts.workspace_id, workspace_id), eq(scripts.path, script_path), eq(scripts.ready, true)),
    )
    .orderBy(desc(scripts.seq))
    .limit(1);
  const language = script?.language ?? null;
  const isHidden = script?.isHidden ?? false;
  return { language, tag: tag || script?.tag || language || "other", isHidden };
}

/** If a planned run is canceled or deleted, the schedule continues with the next time. */
export const planRunAfterCancellation: JobEndListener = (app, { state, workspace_id, schedule_path }) => {
  if (state !== "planned" || schedule_path === null) return undefined;
  return async (tx) => {
    const its = and(eq(schedules.workspace_id, workspace_id), eq(schedules.path, schedule_path));
    const [row] = await tx.select().from(schedules).where(its);
    if (!row?.next_at) return;
    const after = new Date(Math.max(row.next_at.getTime(), app.clock().getTime()));
    const next_at = computeNextRunTime(row, after);
    const still = and(its, eq(schedules.next_at, row.next_at));
    const [changed] = await tx.update(schedules).set({ next_at }).where(still).returning();
    if (!changed) return;
    await planNextRun(app, tx, changed);
    tx.afterCommit(() => getScheduler(app).wake());
  };
};
