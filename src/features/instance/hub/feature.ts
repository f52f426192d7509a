import { defineFeature } from "../../../platform/http/feature.ts";
import { hubOperations } from "./operations.ts";

export const feature = defineFeature({
  folder: "instance/hub",
  operations: {
    "operations.ts": hubOperations,
  },
});
