import { defineFeature } from "../../../platform/http/feature.ts";
import { variableOperations } from "./operations.ts";

export const feature = defineFeature({
  folder: "assets/variables",
  operations: {
    "operations.ts": variableOperations,
  },
});
