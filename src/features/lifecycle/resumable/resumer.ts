/** Finishes operations that were cut off: at the start, and on PostgreSQL when the server that was at one is gone. */
import type { App } from "../../../platform/app/context.ts";
import { createPeriodicTask, type PeriodicTask } from "../../../platform/loops/periodic-task.ts";
import { finishAbandoned } from "./service.ts";

const INTERVAL_MS = 60_000;

export function createResumer(app: App): PeriodicTask {
  return createPeriodicTask(app, {
    failure: "an operation that was cut off could not be finished yet",
    interval_ms: INTERVAL_MS,
    of_leader: "operations that were cut off",
    async run() {
      await finishAbandoned(app);
      return app.db.channel ? new Date(app.clock().getTime() + app.config.lease_s * 1000) : undefined;
    },
  });
}
