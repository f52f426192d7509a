/** Durations of jobs, by this process's monotonic clock: setting the system clock does not change them. */
import type { App } from "../../../platform/app/context.ts";
import type { Job } from "../../../platform/queue/tables.ts";

/** Start of each job, in milliseconds of `performance.now()`. */
const startTimes = new WeakMap<Job, number>();

/** Records that this process has started the job. */
export function recordStart(app: App, job: Job): void {
  const since = job.started_at ? app.clock().getTime() - job.started_at.getTime() : 0;
  startTimes.set(job, performance.now() - Math.max(0, since));
}

/** Returns the job's duration in whole milliseconds; by its row's times if it did not run here. */
export function measureDurationMs(job: Job, now: Date): number {
  const at = startTimes.get(job);
  if (at !== undefined) return Math.round(performance.now() - at);
  return Math.max(0, now.getTime() - (job.started_at ?? now).getTime());
}
