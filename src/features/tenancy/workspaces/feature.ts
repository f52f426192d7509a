import { defineFeature } from "../../../platform/http/feature.ts";
import { environmentOperations } from "./environment.ts";

export const feature = defineFeature({
  folder: "tenancy/workspaces",
  operations: {
    "environment.ts": environmentOperations,
  },
});
