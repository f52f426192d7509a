import { toPathTable } from "../../../database/path-table.ts";
import { defineFeature } from "../../../platform/http/feature.ts";
import { resources, resourceTypes } from "../resource-tables.ts";
import { resourceSections } from "./archive.ts";
import { resourceOperations } from "./operations.ts";
import { resourceTypeOperations } from "./type-operations.ts";

export const feature = defineFeature({
  folder: "assets/resources",
  operations: {
    "operations.ts": resourceOperations,
    "type-operations.ts": resourceTypeOperations,
  },
  itemKinds: [
    {
      kind: "resource",
      table: toPathTable(resources, "extra_perms"),
      updateEvent: { type: "UpdateResource" },
    },
  ],
  usernameColumns: [resources.created_by, resourceTypes.created_by],
  mentioningJson: [{ column: resources.value, key: resources.path, form: "references" }],
  encryptedColumns: [{ columns: [resources.value], key: [resources.path] }],
  archiveSections: resourceSections,
});
