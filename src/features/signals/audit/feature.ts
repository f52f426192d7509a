import { defineFeature } from "../../../platform/http/feature.ts";
import { auditOperations } from "./operations.ts";

export const feature = defineFeature({
  folder: "signals/audit",
  operations: {
    "operations.ts": auditOperations,
  },
});
