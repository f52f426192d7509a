import { defineFeature } from "../../../platform/http/feature.ts";
import { samlOperations } from "./operations.ts";

export const feature = defineFeature({
  folder: "instance/saml",
  operations: {
    "operations.ts": samlOperations,
  },
});
