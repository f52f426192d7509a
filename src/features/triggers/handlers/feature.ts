import { defineFeature } from "../../../platform/http/feature.ts";
import { handlerCalls } from "./tables.ts";

export const feature = defineFeature({
  folder: "triggers/handlers",
  operations: {},
  pathColumns: [{ column: handlerCalls.schedule_path }],
});
