import { defineFeature } from "../../../platform/http/feature.ts";
import { appBundleOperations } from "./bundle-operations.ts";
import { appListOperations } from "./list-operations.ts";
import { appOperations } from "./operations.ts";
import { rawAppOperations } from "./raw-operations.ts";

export const feature = defineFeature({
  folder: "code/apps",
  operations: {
    "operations.ts": appOperations,
    "list-operations.ts": appListOperations,
    "bundle-operations.ts": appBundleOperations,
    "raw-operations.ts": rawAppOperations,
  },
});
