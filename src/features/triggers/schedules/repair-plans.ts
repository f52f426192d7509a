/**
 * Repairs missing or outdated planned jobs. Changes of schedules update them; this covers schedules of an earlier
 * version, and those that a server of an earlier version changes in the meantime. Archived workspaces are skipped:
 * while a workspace's id changes, it is archived under both ids, and its schedules and jobs are moved one table after
 * the other.
 */
import { and, eq, inArray, isNotNull, notExists, sql } from "drizzle-orm";
import type { App } from "../../../platform/app/context.ts";
import { createPeriodicTask, type PeriodicTask } from "../../../platform/loops/periodic-task.ts";
import { jobs } from "../../../platform/queue/tables.ts";
import { workspaces } from "../../tenancy/workspaces/tables.ts";
import { planNextRun } from "./planned-run.ts";
import { schedules } from "./tables.ts";

const INTERVAL_MS = 60_000;
const BATCH_SIZE = 100;

const isPlanned = sql`${jobs.state} = 'planned'`;
const isOfSchedule = and(
  eq(jobs.workspace_id, schedules.workspace_id),
  eq(jobs.schedule_path, schedules.path),
);

export function createPlanRepair(app: App): PeriodicTask {
  return createPeriodicTask(app, {
    leader_task: "planned_runs",
    failure_message: "planned runs of schedules could not be checked",
    interval_ms: INTERVAL_MS,
    async run(_now, stopping) {
      for (let found = BATCH_SIZE; found === BATCH_SIZE && !stopping.aborted; )
        found = await planMissing(app);
      const isLost = and(
        isPlanned,
        inArray(jobs.workspace_id, openWorkspaces(app)),
        notExists(scheduleOf(app)),
      );
      await app.db.write((tx) => tx.delete(jobs).where(isLost));
    },
  });
}

/**
 * Plans the missing next runs of schedules.
 * @returns the number of schedules that had no planned job at their next time
 */
async function planMissing(app: App): Promise<number> {
  const planned = app.db.read
    .select({ one: sql`1` })
    .from(jobs)
    .where(and(isPlanned, isOfSchedule, eq(jobs.scheduled_for, schedules.next_at)));
  const rows = await app.db.read
    .select()
    .from(schedules)
    .where(
      and(
        isNotNull(schedules.next_at),
        inArray(schedules.workspace_id, openWorkspaces(app)),
        notExists(planned),
      ),
    )
    .limit(BATCH_SIZE);
  for (const row of rows) {
    const isStill = and(
      eq(schedules.workspace_id, row.workspace_id),
      eq(schedules.path, row.path),
      eq(schedules.next_at, row.next_at!),
      eq(schedules.edited_at, row.edited_at),
      inArray(schedules.workspace_id, openWorkspaces(app)),
    );
    await app.db.write(async (tx) => {
      // Locks the row, so that no other transaction plans in the meantime.
      const [held] = await tx.update(schedules).set({ next_at: row.next_at }).where(isStill).returning();
      if (held) await planNextRun(app, tx, held);
    });
  }
  return rows.length;
}

const openWorkspaces = (app: App) =>
  app.db.read.select({ id: workspaces.id }).from(workspaces).where(eq(workspaces.archived, false));

const scheduleOf = (app: App) =>
  app.db.read
    .select({ one: sql`1` })
    .from(schedules)
    .where(and(isOfSchedule, isNotNull(schedules.next_at)));
