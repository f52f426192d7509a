import { defineFeature } from "../../../platform/http/feature.ts";
import { tokenOperations } from "./operations.ts";

export const feature = defineFeature({
  folder: "accounts/tokens",
  operations: {
    "operations.ts": tokenOperations,
  },
});
