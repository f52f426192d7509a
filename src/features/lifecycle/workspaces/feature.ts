import { defineFeature } from "../../../platform/http/feature.ts";
import { workspaceLifeOperations } from "./archive-delete-operations.ts";
import { workspaceOperations } from "./operations.ts";

export const feature = defineFeature({
  folder: "lifecycle/workspaces",
  operations: {
    "operations.ts": workspaceOperations,
    "archive-delete-operations.ts": workspaceLifeOperations,
  },
});
