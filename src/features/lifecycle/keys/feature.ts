import { defineFeature } from "../../../platform/http/feature.ts";
import { keySection } from "./archive.ts";
import { encryptionKeyOperations } from "./key-operations.ts";

export const feature = defineFeature({
  folder: "lifecycle/keys",
  operations: {
    "key-operations.ts": encryptionKeyOperations,
  },
  archiveSections: [keySection],
});
