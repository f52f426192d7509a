import { defineFeature } from "../../../platform/http/feature.ts";
import { draftOperations } from "./operations.ts";

export const feature = defineFeature({
  folder: "code/drafts",
  operations: {
    "operations.ts": draftOperations,
  },
});
