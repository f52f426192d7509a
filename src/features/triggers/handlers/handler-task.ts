/** The background task that starts handlers of completed jobs. */
import { asc, lte } from "drizzle-orm";
import type { App } from "../../../platform/app/context.ts";
import { createPeriodicTask, type PeriodicTask } from "../../../platform/loops/periodic-task.ts";
import { getHandlerTask } from "./outbox.ts";
import { processHandlerCall } from "./start-handler.ts";
import { handlerCalls } from "./tables.ts";

const BATCH_SIZE = 100;

export function createHandlerTask(app: App): PeriodicTask {
  const { next_at, job_id } = handlerCalls;
  const task = createPeriodicTask(app, {
    failure_message: "due handlers could not be started",
    async run(now, stopping) {
      const due = await app.db.read
        .select()
        .from(handlerCalls)
        .where(lte(next_at, now))
        .orderBy(asc(next_at), asc(job_id))
        .limit(BATCH_SIZE);
      for (const call of due) {
        if (stopping.aborted) return undefined;
        await processHandlerCall(app, call);
      }
      const [next] = await app.db.read.select({ next_at }).from(handlerCalls).orderBy(asc(next_at)).limit(1);
      return next?.next_at;
    },
  });
  getHandlerTask(app).wake = task.wake;
  return task;
}
