import { defineFeature } from "../../../platform/http/feature.ts";
import { importerOperations } from "./imports/importer-operations.ts";
import { scriptOperations } from "./operations.ts";
import { scriptRawOperations } from "./raw-operations.ts";
import { snapshotOperations } from "./snapshot-operations.ts";
import { scriptVersionOperations } from "./version-operations.ts";

export const feature = defineFeature({
  folder: "code/scripts",
  operations: {
    "imports/importer-operations.ts": importerOperations,
    "operations.ts": scriptOperations,
    "raw-operations.ts": scriptRawOperations,
    "version-operations.ts": scriptVersionOperations,
    "snapshot-operations.ts": snapshotOperations,
  },
});
