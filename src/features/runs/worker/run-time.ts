/** Durations of jobs, by this process's monotonic clock: setting the system clock does not change them. */
import type { App } from "../../../platform/app/context.ts";
import type { Job } from "../../../platform/queue/tables.ts";

/** Start of a job, in milliseconds of `performance.now()`: a property of its row, which costs less than a WeakMap. */
const START = Symbol("start");

type StartedJob = Job & { [START]?: number };

/** Records that this process has started the job. */
export function recordStart(app: App, job: Job): void {
  const since = job.started_at ? app.clock().getTime() - job.started_at.getTime() : 0;
  (job as StartedJob)[START] = performance.now() - Math.max(0, since);
}

/** Returns the job's duration in whole milliseconds; by its row's times if it did not run here. */
export function measureDurationMs(job: Job, now: Date): number {
  const at = (job as StartedJob)[START];
  if (at !== undefined) return Math.round(performance.now() - at);
  return Math.max(0, now.getTime() - (job.started_at ?? now).getTime());
}
