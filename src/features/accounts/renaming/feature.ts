import { defineFeature } from "../../../platform/http/feature.ts";
import { renamingOperations } from "./operations.ts";

export const feature = defineFeature({
  folder: "accounts/renaming",
  operations: {
    "operations.ts": renamingOperations,
  },
});
