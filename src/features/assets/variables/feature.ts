import { pathTable } from "../../../database/path-table.ts";
import { defineFeature } from "../../../platform/http/feature.ts";
import { variables } from "../variable-tables.ts";
import { variableOperations } from "./operations.ts";

export const feature = defineFeature({
  folder: "assets/variables",
  operations: {
    "operations.ts": variableOperations,
  },
  itemKinds: [{ kind: "variable", table: pathTable(variables, "extra_perms") }],
});
