import { defineFeature } from "../../../platform/http/feature.ts";
import { triggersCountOperations } from "./operations.ts";

export const feature = defineFeature({
  folder: "lifecycle/trigger-counts",
  operations: {
    "operations.ts": triggersCountOperations,
  },
});
