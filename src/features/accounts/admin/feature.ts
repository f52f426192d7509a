import { defineFeature } from "../../../platform/http/feature.ts";
import { userExportOperations } from "./export-operations.ts";
import { userOperations } from "./operations.ts";
import { ownOperations } from "./own-operations.ts";
import { resetOperations } from "./reset-operations.ts";

export const feature = defineFeature({
  folder: "accounts/admin",
  operations: {
    "operations.ts": userOperations,
    "own-operations.ts": ownOperations,
    "export-operations.ts": userExportOperations,
    "reset-operations.ts": resetOperations,
  },
});
