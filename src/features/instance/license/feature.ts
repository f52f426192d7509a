import { defineFeature } from "../../../platform/http/feature.ts";
import { licenseOperations } from "./operations.ts";

export const feature = defineFeature({
  folder: "instance/license",
  operations: {
    "operations.ts": licenseOperations,
  },
});
