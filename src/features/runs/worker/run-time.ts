/** How long jobs run, counted by this process: somebody who sets the clock meanwhile makes no run longer or shorter. */
import type { App } from "../../../platform/app/context.ts";
import type { Job } from "../../../platform/queue/tables.ts";

/** When each began, in milliseconds of `performance.now()`. */
const began = new WeakMap<Job, number>();

/** Notes that this process has begun to run the job. */
export function noteStart(app: App, job: Job): void {
  const since = job.started_at ? app.clock().getTime() - job.started_at.getTime() : 0;
  began.set(job, performance.now() - Math.max(0, since));
}

/** Returns how long the job has run, in whole milliseconds; by its row where it did not run here. */
export function ranMs(job: Job, now: Date): number {
  const at = began.get(job);
  if (at !== undefined) return Math.round(performance.now() - at);
  return Math.max(0, now.getTime() - (job.started_at ?? now).getTime());
}
