import { defineFeature } from "../../../platform/http/feature.ts";
import { tarballOperations } from "./archive-operations.ts";

export const feature = defineFeature({
  folder: "lifecycle/export",
  operations: {
    "archive-operations.ts": tarballOperations,
  },
});
