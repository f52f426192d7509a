import { defineFeature } from "../../../platform/http/feature.ts";
import { cancelUserRuns } from "./change/access-revoked.ts";
import { cancelOperations } from "./change/cancel-operations.ts";
import { deleteOperations } from "./change/delete-operations.ts";
import { renameInUnfinishedRuns } from "./change/user-renamed.ts";
import { exportOperations } from "./export/export-operations.ts";
import { inputOperations } from "./inputs/operations.ts";
import { deleteOwnInputs } from "./inputs/service.ts";
import { inputs } from "./inputs/tables.ts";
import { concurrencyGroupOperations } from "./lists/concurrency-group-operations.ts";
import { countOperations } from "./lists/count-operations.ts";
import { latestOperations } from "./lists/latest-operations.ts";
import { listOperations } from "./lists/list-operations.ts";
import { searchOperations } from "./lists/search-operations.ts";
import { completedOperations } from "./read/completed-operations.ts";
import { environmentOperations } from "./read/environment-operations.ts";
import { metricsOperations } from "./read/metrics-operations.ts";
import { jobOperations } from "./read/operations.ts";
import { flowResultOperations } from "./read/result-operations.ts";
import { flowStepOperations } from "./read/step-operations.ts";
import { batchOperations } from "./run/batch-operations.ts";
import { choiceOperations } from "./run/choice-operations.ts";
import { previewOperations } from "./run/preview-operations.ts";
import { runOperations } from "./run/run-operations.ts";
import { workflowOperations } from "./run/workflow-operations.ts";
import { flowDependencyOperations } from "./run-flow/dependency-operations.ts";
import { flowPreviewOperations } from "./run-flow/preview-operations.ts";
import { flowRestartOperations } from "./run-flow/restart-operations.ts";

export const feature = defineFeature({
  folder: "runs/api",
  operations: {
    "inputs/operations.ts": inputOperations,
    "run-flow/dependency-operations.ts": flowDependencyOperations,
    "run-flow/preview-operations.ts": flowPreviewOperations,
    "run-flow/restart-operations.ts": flowRestartOperations,
    "read/result-operations.ts": flowResultOperations,
    "read/step-operations.ts": flowStepOperations,
    "run/run-operations.ts": runOperations,
    "run/preview-operations.ts": previewOperations,
    "run/workflow-operations.ts": workflowOperations,
    "run/batch-operations.ts": batchOperations,
    "read/operations.ts": jobOperations,
    "run/choice-operations.ts": choiceOperations,
    "read/completed-operations.ts": completedOperations,
    "lists/list-operations.ts": listOperations,
    "lists/count-operations.ts": countOperations,
    "lists/latest-operations.ts": latestOperations,
    "lists/search-operations.ts": searchOperations,
    "change/delete-operations.ts": deleteOperations,
    "export/export-operations.ts": exportOperations,
    "read/environment-operations.ts": environmentOperations,
    "read/metrics-operations.ts": metricsOperations,
    "change/cancel-operations.ts": cancelOperations,
    "lists/concurrency-group-operations.ts": concurrencyGroupOperations,
  },
  pathColumns: [{ column: inputs.runnable_id }],
  usernameColumns: [inputs.created_by],
  mentioningJson: [{ column: inputs.args, key: inputs.id, form: "references" }],
  on: {
    userRenaming: renameInUnfinishedRuns,
    memberLeft: deleteOwnInputs,
    accessRevoked: cancelUserRuns,
  },
  encryptedColumns: [{ columns: [inputs.args], key: [inputs.id], email: inputs.email }],
});
