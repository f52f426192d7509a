import { defineFeature } from "../../../platform/http/feature.ts";
import { folderOperations } from "./operations.ts";

export const feature = defineFeature({
  folder: "accounts/folders",
  operations: {
    "operations.ts": folderOperations,
  },
});
