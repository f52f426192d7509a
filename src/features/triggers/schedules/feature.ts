import { defineFeature } from "../../../platform/http/feature.ts";
import { scheduleOperations } from "./operations.ts";

export const feature = defineFeature({
  folder: "triggers/schedules",
  operations: {
    "operations.ts": scheduleOperations,
  },
});
