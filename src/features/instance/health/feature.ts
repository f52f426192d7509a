import { defineFeature } from "../../../platform/http/feature.ts";
import { healthOperations } from "./operations.ts";

export const feature = defineFeature({
  folder: "instance/health",
  operations: {
    "operations.ts": healthOperations,
  },
});
