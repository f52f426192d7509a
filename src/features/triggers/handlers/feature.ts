import { gt } from "drizzle-orm";
import { subtractMilliseconds } from "../../../database/conditions.ts";
import { defineFeature } from "../../../platform/http/feature.ts";
import { createHandlerTask } from "./handler-task.ts";
import { getHandlerTask, recordHandlerCalls } from "./outbox.ts";
import { handlerCalls } from "./tables.ts";

export const feature = defineFeature({
  folder: "triggers/handlers",
  operations: {},
  pathColumns: [{ column: handlerCalls.schedule_path }],
  loops: [{ name: "handlers", roles: ["all"], create: createHandlerTask }],
  on: {
    jobEnded: recordHandlerCalls,
    /** Keeps the remaining time until the next attempt of failed calls. */
    async clockSetBack(app, by_ms) {
      const { next_at } = handlerCalls;
      await app.db.write((tx) =>
        tx
          .update(handlerCalls)
          .set({ next_at: subtractMilliseconds(next_at, by_ms) })
          .where(gt(next_at, app.clock())),
      );
      getHandlerTask(app).wake();
    },
  },
});
