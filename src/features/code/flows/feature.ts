import { defineFeature } from "../../../platform/http/feature.ts";
import { flowListOperations } from "./list-operations.ts";
import { flowOperations } from "./operations.ts";

export const feature = defineFeature({
  folder: "code/flows",
  operations: {
    "operations.ts": flowOperations,
    "list-operations.ts": flowListOperations,
  },
});
