import { defineFeature } from "../../../platform/http/feature.ts";
import { aclOperations } from "./operations.ts";

export const feature = defineFeature({
  folder: "accounts/acls",
  operations: {
    "operations.ts": aclOperations,
  },
});
