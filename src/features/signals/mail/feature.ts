import { defineFeature } from "../../../platform/http/feature.ts";
import { mailOperations } from "./operations.ts";

export const feature = defineFeature({
  folder: "signals/mail",
  operations: {
    "operations.ts": mailOperations,
  },
});
