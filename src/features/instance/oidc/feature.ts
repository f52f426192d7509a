import { defineFeature } from "../../../platform/http/feature.ts";
import { oidcOperations } from "./operations.ts";

export const feature = defineFeature({
  folder: "instance/oidc",
  operations: {
    "operations.ts": oidcOperations,
  },
});
