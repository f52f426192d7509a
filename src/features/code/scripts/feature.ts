import { and, eq } from "drizzle-orm";
import { toPathTable } from "../../../database/path-table.ts";
import { defineFeature } from "../../../platform/http/feature.ts";
import { scriptSection } from "./archive.ts";
import { scriptCodeOperations } from "./code-operations.ts";
import { importerOperations } from "./imports/importer-operations.ts";
import { importingScripts } from "./imports/relock-targets.ts";
import { scriptOperations } from "./operations.ts";
import { snapshotOperations } from "./snapshot-operations.ts";
import { scriptImports, scripts } from "./tables.ts";
import { scriptVersionOperations } from "./version-operations.ts";
import { getDeployedScriptByPath, invalidateScriptPath, invalidateScripts } from "./versions.ts";

export const feature = defineFeature({
  folder: "code/scripts",
  importers: importingScripts,
  operations: {
    "imports/importer-operations.ts": importerOperations,
    "operations.ts": scriptOperations,
    "code-operations.ts": scriptCodeOperations,
    "version-operations.ts": scriptVersionOperations,
    "snapshot-operations.ts": snapshotOperations,
  },
  itemKinds: [
    {
      kind: "script",
      table: toPathTable(scripts, "extra_perms"),
      live: eq(scripts.deleted, false),
      listed: and(eq(scripts.deleted, false), eq(scripts.archived, false)),
      updateEvent: { type: "UpdateScript", version: { hash: scripts.hash, seq: scripts.seq } },
      invalidate: invalidateScriptPath,
    },
  ],
  pathColumns: [{ column: scriptImports.importer_path, own: "stale" }],
  usernameColumns: [scripts.created_by],
  mentioningJson: [{ column: scripts.signature, key: scripts.hash, form: "names" }],
  on: {
    userRenamed: async (app, tx, { workspace_id }) => {
      tx.afterCommit(() => invalidateScripts(app, workspace_id));
    },
  },
  archiveSections: [scriptSection],
  runnableKind: { is_flow: false, deployedByPath: getDeployedScriptByPath },
  invalidateWorkspace: invalidateScripts,
});
