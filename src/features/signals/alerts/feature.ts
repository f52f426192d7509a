import { defineFeature } from "../../../platform/http/feature.ts";
import { alertOperations } from "./operations.ts";

export const feature = defineFeature({
  folder: "signals/alerts",
  operations: {
    "operations.ts": alertOperations,
  },
});
