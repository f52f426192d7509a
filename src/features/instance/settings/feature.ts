import { defineFeature } from "../../../platform/http/feature.ts";
import { settingOperations } from "./operations.ts";
import { testObjectStorageConfig } from "./test-object-storage.ts";

export const feature = defineFeature({
  folder: "instance/settings",
  operations: {
    "operations.ts": settingOperations,
    "test-object-storage.ts": [testObjectStorageConfig],
  },
});
