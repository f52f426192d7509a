/** Recomputes next times of schedules after the clock was set back: they are wall-clock times. */
import { and, eq, gt } from "drizzle-orm";
import type { App } from "../../../platform/app/context.ts";
import { computeNextRunTime } from "./cron/cron.ts";
import { getScheduler } from "./get-scheduler.ts";
import { planNextRun } from "./planned-run.ts";
import { type Schedule, schedules } from "./tables.ts";

/** Recomputes the next times, and stores those that are earlier than before. */
export async function rescheduleAfterSetBack(app: App): Promise<void> {
  const now = app.clock();
  const rows = await app.db.read.select().from(schedules).where(gt(schedules.next_at, now));
  for (const row of rows) {
    const next_at = earlierTime(row, now);
    if (!next_at) continue;
    const isUnchanged = and(
      eq(schedules.workspace_id, row.workspace_id),
      eq(schedules.path, row.path),
      eq(schedules.next_at, row.next_at!),
    );
    await app.db.write(async (tx) => {
      const [changed] = await tx.update(schedules).set({ next_at }).where(isUnchanged).returning();
      if (changed) await planNextRun(app, tx, changed);
    });
  }
  getScheduler(app).wake();
}

/** Returns undefined if the stored time is correct. */
function earlierTime(row: Schedule, now: Date): Date | undefined {
  try {
    const next_at = computeNextRunTime(row, now);
    return next_at && next_at < row.next_at! ? next_at : undefined;
  } catch {
    // The error is found when the schedule is due, and shown on it.
    return undefined;
  }
}
