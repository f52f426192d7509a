import { defineFeature } from "../../../platform/http/feature.ts";
import { appExecuteOperations } from "./execute-operations.ts";
import { appPublicOperations } from "./public-operations.ts";

export const feature = defineFeature({
  folder: "triggers/apps",
  operations: {
    "execute-operations.ts": appExecuteOperations,
    "public-operations.ts": appPublicOperations,
  },
});
