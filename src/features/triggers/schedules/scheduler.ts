/** Starts what schedules run when they are due. */
import { asc, isNotNull, lte } from "drizzle-orm";
import type { App } from "../../../platform/app/context.ts";
import { createPeriodicTask, type PeriodicTask } from "../../../platform/loops/periodic-task.ts";
import { runSchedule } from "./run.ts";
import { schedulerOf } from "./service.ts";
import { schedules } from "./tables.ts";

const BATCH_SIZE = 100;

export function createScheduler(app: App): PeriodicTask {
  const { next_at } = schedules;

  /** Starts those that are due. @throws what the last one failed with, once all others were started */
  async function startDue(now: Date, stopping: AbortSignal): Promise<void> {
    const failures: unknown[] = [];
    for (let isLast = false; !isLast && !stopping.aborted; ) {
      // Those that failed are due still, and keep none of the others waiting.
      const due = await app.db.read
        .select()
        .from(schedules)
        .where(lte(next_at, now))
        .orderBy(asc(next_at), asc(schedules.workspace_id), asc(schedules.path))
        .limit(BATCH_SIZE)
        .offset(failures.length);
      isLast = due.length < BATCH_SIZE;
      const started = await Promise.allSettled(due.map((row) => runSchedule(app, row)));
      for (const [at, each] of started.entries()) {
        if (each.status === "fulfilled") continue;
        const { workspace_id, path } = due[at]!;
        const about = { workspace: workspace_id, schedule: path };
        app.log.warn({ ...about, error: String(each.reason) }, "a schedule has to wait");
        failures.push(each.reason);
      }
    }
    if (failures.length > 0) throw failures.at(-1);
  }

  const task = createPeriodicTask(app, {
    of_leader: "schedules",
    failure: "schedules that are due could not be started",
    async run(now, stopping) {
      // What is due is left to the next start: nothing is begun any more, and nothing is put off for that.
      if (!app.accepting) return undefined;
      await startDue(now, stopping);
      const [next] = await app.db.read
        .select({ next_at })
        .from(schedules)
        .where(isNotNull(next_at))
        .orderBy(asc(next_at))
        .limit(1);
      return next?.next_at ?? undefined;
    },
  });
  schedulerOf(app).wake = task.wake;
  return task;
}
