import { defineFeature } from "../../../platform/http/feature.ts";
import { workspaceDependencyOperations } from "./operations.ts";

export const feature = defineFeature({
  folder: "code/dependencies",
  operations: {
    "operations.ts": workspaceDependencyOperations,
  },
});
