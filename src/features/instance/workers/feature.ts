import { defineFeature } from "../../../platform/http/feature.ts";
import { workerGroupOperations } from "./group-operations.ts";
import { workerOperations } from "./operations.ts";

export const feature = defineFeature({
  folder: "instance/workers",
  operations: {
    "operations.ts": workerOperations,
    "group-operations.ts": workerGroupOperations,
  },
});
