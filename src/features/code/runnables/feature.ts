import { defineFeature } from "../../../platform/http/feature.ts";
import { runnableOperations } from "./runnables.ts";
import { runnableTokenOperations } from "./token-operations.ts";

export const feature = defineFeature({
  folder: "code/runnables",
  operations: {
    "runnables.ts": runnableOperations,
    "token-operations.ts": runnableTokenOperations,
  },
});
