import { eq } from "drizzle-orm";
import { toPathTable } from "../../../database/path-table.ts";
import { defineFeature } from "../../../platform/http/feature.ts";
import { variables } from "../variable-tables.ts";
import { variableSection } from "./archive.ts";
import { variableOperations } from "./operations.ts";
import { variableRetention } from "./retention.ts";

export const feature = defineFeature({
  folder: "assets/variables",
  operations: {
    "operations.ts": variableOperations,
  },
  itemKinds: [
    {
      kind: "variable",
      table: toPathTable(variables, "extra_perms"),
      updateEvent: { type: "UpdateVariable" },
    },
  ],
  secretColumns: [
    { column: variables.value, key: variables.path, where: eq(variables.is_secret, true), isImported: true },
  ],
  archiveSections: [variableSection],
  retention: variableRetention,
});
