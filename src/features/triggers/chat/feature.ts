import { defineFeature } from "../../../platform/http/feature.ts";
import { chatOperations } from "./operations.ts";

export const feature = defineFeature({
  folder: "triggers/chat",
  operations: {
    "operations.ts": chatOperations,
  },
});
