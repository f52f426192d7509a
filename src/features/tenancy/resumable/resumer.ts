/** Resumes interrupted operations: at startup, and on PostgreSQL when the server that ran one is gone. */
import type { App } from "../../../platform/app/context.ts";
import { createPeriodicTask, type PeriodicTask } from "../../../platform/loops/periodic-task.ts";
import { resumeAbandoned } from "./service.ts";

const SCAN_INTERVAL_MS = 60_000;

export function createResumer(app: App): PeriodicTask {
  return createPeriodicTask(app, {
    failure_message: "an operation that was cut off could not be finished yet",
    interval_ms: SCAN_INTERVAL_MS,
    leader_task: "operations that were cut off",
    async run() {
      await resumeAbandoned(app);
      return app.db.channel ? new Date(app.clock().getTime() + app.config.lease_s * 1000) : undefined;
    },
  });
}
