/**
 * The background task that starts schedules when they are due.
 *
 * From due time to job: this task, `run-schedule.ts`, then runs/submit/triggered.ts, which submits jobs that no request
 * asks for.
 */
import { asc, isNotNull, lte } from "drizzle-orm";
import type { App } from "../../../platform/app/context.ts";
import { createPeriodicTask, type PeriodicTask } from "../../../platform/loops/periodic-task.ts";
import { getScheduler } from "./get-scheduler.ts";
import { runSchedule } from "./run-schedule.ts";
import { schedules } from "./tables.ts";

const BATCH_SIZE = 100;

export function createScheduler(app: App): PeriodicTask {
  const { next_at } = schedules;

  /** Starts all due schedules. @throws the last error, after all others were started */
  async function startDue(now: Date, stopping: AbortSignal): Promise<void> {
    const failures: unknown[] = [];
    for (let isLast = false; !isLast && !stopping.aborted; ) {
      // Failed ones stay due and must not delay the others.
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
        app.log.warn({ ...about, error: String(each.reason) }, "a schedule could not start yet");
        failures.push(each.reason);
      }
    }
    if (failures.length > 0) throw failures.at(-1);
  }

  const task = createPeriodicTask(app, {
    leader_task: "schedules",
    failure_message: "due schedules could not be started",
    async run(now, stopping) {
      // During shutdown due schedules are left to the next start.
      if (!app.acceptsJobs) return undefined;
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
  getScheduler(app).wake = task.wake;
  return task;
}
