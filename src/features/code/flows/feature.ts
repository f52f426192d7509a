import { eq } from "drizzle-orm";
import { toPathTable } from "../../../database/path-table.ts";
import { defineFeature } from "../../../platform/http/feature.ts";
import { isApproverGroup } from "./approver-groups.ts";
import { flowSection } from "./archive.ts";
import { flowCheckOperations } from "./check-operations.ts";
import { flowExpressionOperations } from "./expression-operations.ts";
import { flowListOperations } from "./list-operations.ts";
import { flowOperations } from "./operations.ts";
import { importingFlows } from "./relock-targets.ts";
import { flows, flowVersions } from "./tables.ts";
import { getDeployedFlowByPath, invalidateFlow, invalidateFlows } from "./versions.ts";

export const feature = defineFeature({
  folder: "code/flows",
  importers: importingFlows,
  namesGroup: isApproverGroup,
  operations: {
    "operations.ts": flowOperations,
    "list-operations.ts": flowListOperations,
    "expression-operations.ts": flowExpressionOperations,
    "check-operations.ts": flowCheckOperations,
  },
  itemKinds: [
    {
      kind: "flow",
      table: toPathTable(flows, "extra_perms"),
      listed: eq(flows.archived, false),
      updateEvent: { type: "UpdateFlow" },
      invalidate: invalidateFlow,
    },
  ],
  pathColumns: [{ column: flowVersions.path, own: "occupied" }],
  usernameColumns: [flows.edited_by, flowVersions.created_by],
  mentioningJson: [{ column: flowVersions.value, key: flowVersions.id, form: "flow" }],
  encryptedColumns: [{ columns: [flowVersions.value], key: [flowVersions.id] }],
  archiveSections: [flowSection],
  runnableKind: { is_flow: true, deployedByPath: getDeployedFlowByPath },
  invalidateWorkspace: invalidateFlows,
  on: {
    userRenamed: async (app, tx, { workspace_id }) => {
      tx.afterCommit(() => invalidateFlows(app, workspace_id));
    },
    // Cached flows contain the old texts.
    workspaceKeyChanged: async (app, tx, workspace_id) => {
      tx.afterCommit(() => invalidateFlows(app, workspace_id));
    },
  },
});
