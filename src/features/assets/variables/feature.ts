import { eq } from "drizzle-orm";
import { asPathTable } from "../../../database/path-table.ts";
import { defineFeature } from "../../../platform/http/feature.ts";
import { deleteExpiredRows } from "../../../platform/loops/expired-rows.ts";
import { variables } from "../variable-tables.ts";
import { variableSection } from "./archive.ts";
import { variableOperations } from "./operations.ts";

export const feature = defineFeature({
  folder: "assets/variables",
  operations: {
    "operations.ts": variableOperations,
  },
  itemKinds: [{ kind: "variable", table: asPathTable(variables, "extra_perms") }],
  secretColumns: [
    { column: variables.value, key: variables.path, where: eq(variables.is_secret, true), isImported: true },
  ],
  archiveSections: [variableSection],
  retention: {
    tables: [variables],
    deleteExpired: (app, now) =>
      deleteExpiredRows(app.db, variables, variables.expires_at, now, variables.value),
  },
});
