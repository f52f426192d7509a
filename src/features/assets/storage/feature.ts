import { defineFeature } from "../../../platform/http/feature.ts";
import { storageConnectionOperations } from "./connection-operations.ts";
import { storageLinkOperations } from "./link-operations.ts";
import { storageOperations } from "./operations.ts";
import { tableOperations } from "./table-operations.ts";

export const feature = defineFeature({
  folder: "assets/storage",
  operations: {
    "operations.ts": storageOperations,
    "table-operations.ts": tableOperations,
    "connection-operations.ts": storageConnectionOperations,
    "link-operations.ts": storageLinkOperations,
  },
});
