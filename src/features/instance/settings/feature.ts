import { defineFeature } from "../../../platform/http/feature.ts";
import { testObjectStorageConfig } from "./object-storage.ts";
import { settingOperations } from "./operations.ts";

export const feature = defineFeature({
  folder: "instance/settings",
  operations: {
    "operations.ts": settingOperations,
    "object-storage.ts": [testObjectStorageConfig],
  },
});
