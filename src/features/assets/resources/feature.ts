import { defineFeature } from "../../../platform/http/feature.ts";
import { resourceOperations } from "./operations.ts";
import { resourceTypeOperations } from "./type-operations.ts";

export const feature = defineFeature({
  folder: "assets/resources",
  operations: {
    "operations.ts": resourceOperations,
    "type-operations.ts": resourceTypeOperations,
  },
});
