import { defineFeature } from "../../../platform/http/feature.ts";
import { mcpOperations } from "./operations.ts";

export const feature = defineFeature({
  folder: "triggers/mcp",
  operations: {
    "operations.ts": mcpOperations,
  },
});
