import { defineFeature } from "../../../platform/http/feature.ts";
import { createHandlerCaller } from "./caller.ts";
import { noteHandlers } from "./outbox.ts";
import { handlerCalls } from "./tables.ts";

export const feature = defineFeature({
  folder: "triggers/handlers",
  operations: {},
  pathColumns: [{ column: handlerCalls.schedule_path }],
  on: { jobEnded: noteHandlers },
  loops: [{ name: "handlers", roles: ["all"], create: createHandlerCaller }],
});
