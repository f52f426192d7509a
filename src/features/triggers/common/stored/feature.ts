import { toPathTable } from "../../../../database/path-table.ts";
import { defineFeature } from "../../../../platform/http/feature.ts";
import { createStoredSection } from "./archive.ts";
import { STORED_KINDS } from "./kinds.ts";
import { operationsOfStoredTriggers } from "./operations.ts";
import { whereKind } from "./service.ts";
import { storedTriggers } from "./tables.ts";

export const feature = defineFeature({
  folder: "triggers/common/stored",
  operations: {
    "operations.ts": operationsOfStoredTriggers,
  },
  itemKinds: STORED_KINDS.map(({ kind }) => ({
    kind: `${kind}_trigger`,
    table: toPathTable(storedTriggers, "extra_perms"),
    live: whereKind(kind),
  })),
  pathColumns: [{ column: storedTriggers.script_path }],
  usernameColumns: [storedTriggers.edited_by],
  mentioningJson: [{ column: storedTriggers.value, key: storedTriggers.path, form: "names" }],
  encryptedColumns: [
    {
      columns: [storedTriggers.value],
      key: [storedTriggers.path, storedTriggers.kind],
      email: storedTriggers.email,
    },
  ],
  archiveSections: STORED_KINDS.map(({ kind }) => createStoredSection(kind)),
  triggerCounts: STORED_KINDS.map(({ kind }) => ({
    table: toPathTable(storedTriggers, "script_path", "is_flow"),
    only: whereKind(kind),
    count: `${kind}_count`,
    used: `${kind}_used`,
  })),
});
