/** The one list of features: a new one is a line here. The folder is where `svc routes` says an operation lives. */

import { aclOperations } from "../features/accounts/acls/operations.ts";
import { userExportOperations } from "../features/accounts/admin/export-operations.ts";
import { userOperations } from "../features/accounts/admin/operations.ts";
import { ownOperations } from "../features/accounts/admin/own-operations.ts";
import { folderOperations } from "../features/accounts/folders/operations.ts";
import { instanceGroupOperations } from "../features/accounts/groups/instance-operations.ts";
import { groupOperations } from "../features/accounts/groups/operations.ts";
import { autoInviteOperations } from "../features/accounts/members/joining/auto-invite.ts";
import { peopleOperations } from "../features/accounts/members/joining/membership-operations.ts";
import { memberOperations } from "../features/accounts/members/member-operations.ts";
import { cliLoginOperations } from "../features/accounts/sessions/cli-login.ts";
import { oauthLoginOperations } from "../features/accounts/sessions/login/login-operations.ts";
import { sessionOperations } from "../features/accounts/sessions/session-operations.ts";
import { setupOperations } from "../features/accounts/sessions/setup-operations.ts";
import { tokenOperations } from "../features/accounts/tokens/operations.ts";
import { scopeListOperation } from "../features/accounts/tokens/scope-list.ts";
import { oauthChatOperations } from "../features/assets/connecting/chat-operations.ts";
import { oauthOperations } from "../features/assets/connecting/operations.ts";
import { resourceOperations } from "../features/assets/resources/operations.ts";
import { resourceTypeOperations } from "../features/assets/resources/type-operations.ts";
import { storageConnectionOperations } from "../features/assets/storage/connection-operations.ts";
import { storageLinkOperations } from "../features/assets/storage/link-operations.ts";
import { storageOperations } from "../features/assets/storage/operations.ts";
import { variableOperations } from "../features/assets/variables/operations.ts";
import { appBundleOperations } from "../features/code/apps/bundle-operations.ts";
import { appListOperations } from "../features/code/apps/list-operations.ts";
import { appOperations } from "../features/code/apps/operations.ts";
import { rawAppOperations } from "../features/code/apps/raw-operations.ts";
import { workspaceDependencyOperations } from "../features/code/dependencies/operations.ts";
import { draftOperations } from "../features/code/drafts/operations.ts";
import { favoriteOperations } from "../features/code/favorites/operations.ts";
import { flowListOperations } from "../features/code/flows/list-operations.ts";
import { flowOperations } from "../features/code/flows/operations.ts";
import { runnableOperations } from "../features/code/runnables/runnables.ts";
import { runnableTokenOperations } from "../features/code/runnables/token-operations.ts";
import { importerOperations } from "../features/code/scripts/imports/importer-operations.ts";
import { scriptOperations } from "../features/code/scripts/operations.ts";
import { scriptRawOperations } from "../features/code/scripts/raw-operations.ts";
import { snapshotOperations } from "../features/code/scripts/snapshot-operations.ts";
import { scriptVersionOperations } from "../features/code/scripts/version-operations.ts";
import { healthOperations } from "../features/instance/health/operations.ts";
import { hubOperations } from "../features/instance/hub/operations.ts";
import { licenseOperations } from "../features/instance/license/operations.ts";
import { oidcOperations } from "../features/instance/oidc/operations.ts";
import { samlOperations } from "../features/instance/saml/operations.ts";
import { instanceOperations } from "../features/instance/self/operations.ts";
import { sendStats } from "../features/instance/self/statistics.ts";
import { testObjectStorageConfig } from "../features/instance/settings/object-storage.ts";
import { settingOperations } from "../features/instance/settings/operations.ts";
import { workerGroupOperations } from "../features/instance/workers/group-operations.ts";
import { workerOperations } from "../features/instance/workers/operations.ts";
import { tarballOperations } from "../features/lifecycle/export/archive-operations.ts";
import { encryptionKeyOperations } from "../features/lifecycle/keys/key-operations.ts";
import { copilotOperations } from "../features/lifecycle/settings/copilot-operations.ts";
import { defaultOperations } from "../features/lifecycle/settings/default-operations.ts";
import { workspaceSettingsOperations } from "../features/lifecycle/settings/settings-operations.ts";
import { storageSettingOperations } from "../features/lifecycle/settings/storage-operations.ts";
import { usageOperations } from "../features/lifecycle/settings/usage-operations.ts";
import { triggersCountOperations } from "../features/lifecycle/trigger-counts/operations.ts";
import { workspaceLifeOperations } from "../features/lifecycle/workspaces/archive-delete-operations.ts";
import { workspaceOperations } from "../features/lifecycle/workspaces/operations.ts";
import { cancelOperations } from "../features/runs/api/change/cancel-operations.ts";
import { deleteOperations } from "../features/runs/api/change/delete-operations.ts";
import { exportOperations } from "../features/runs/api/export/export-operations.ts";
import { inputOperations } from "../features/runs/api/inputs/operations.ts";
import { concurrencyGroupOperations } from "../features/runs/api/lists/concurrency-group-operations.ts";
import { countOperations } from "../features/runs/api/lists/count-operations.ts";
import { listOperations } from "../features/runs/api/lists/list-operations.ts";
import { completedOperations } from "../features/runs/api/read/completed-operations.ts";
import { metricsOperations } from "../features/runs/api/read/metrics-operations.ts";
import { jobOperations } from "../features/runs/api/read/operations.ts";
import { flowResultOperations } from "../features/runs/api/read/result-operations.ts";
import { batchOperations } from "../features/runs/api/run/batch-operations.ts";
import { choiceOperations } from "../features/runs/api/run/choice-operations.ts";
import { previewOperations } from "../features/runs/api/run/preview-operations.ts";
import { runOperations } from "../features/runs/api/run/run-operations.ts";
import { workflowOperations } from "../features/runs/api/run/workflow-operations.ts";
import { flowDependencyOperations } from "../features/runs/api/run-flow/dependency-operations.ts";
import { flowPreviewOperations } from "../features/runs/api/run-flow/preview-operations.ts";
import { flowRestartOperations } from "../features/runs/api/run-flow/restart-operations.ts";
import { approvalOperations } from "../features/runs/approvals/operations.ts";
import { approvalPageOperations } from "../features/runs/approvals/page-operations.ts";
import { alertOperations } from "../features/signals/alerts/operations.ts";
import { auditOperations } from "../features/signals/audit/operations.ts";
import { mailOperations } from "../features/signals/mail/operations.ts";
import { instanceWebhookOperations } from "../features/signals/webhooks/api/instance-operations.ts";
import { webhookOperations } from "../features/signals/webhooks/api/operations.ts";
import { environmentOperations } from "../features/tenancy/workspaces/environment.ts";
import { appExecuteOperations } from "../features/triggers/apps/execute-operations.ts";
import { appPublicOperations } from "../features/triggers/apps/public-operations.ts";
import { chatOperations } from "../features/triggers/chat/operations.ts";
import { httpTriggerOperations } from "../features/triggers/http/operations.ts";
import { routeOperations } from "../features/triggers/http/serve/serve-operations.ts";
import { mcpOperations } from "../features/triggers/mcp/operations.ts";
import { scheduleOperations } from "../features/triggers/schedules/operations.ts";
import { websocketTriggerOperations } from "../features/triggers/websocket/operations.ts";
import { openapiOperation } from "../platform/http/openapi/openapi.ts";
import { frontDoor, referenceOperation } from "../platform/http/openapi/reference-page.ts";
import type { Operation } from "../platform/http/operation.ts";
import { NOUNS, SAME_NOUN } from "./api-tags.ts";

export interface Feature {
  /** Below the repository's root. */
  file: string;
  operations: Operation[];
}

const INTERFACE_NOUNS = { about: NOUNS, same: SAME_NOUN };

export const features: Feature[] = [
  { file: "src/features/instance/self/operations.ts", operations: instanceOperations },
  { file: "src/features/instance/settings/operations.ts", operations: settingOperations },
  { file: "src/features/instance/workers/operations.ts", operations: workerOperations },
  { file: "src/features/instance/workers/group-operations.ts", operations: workerGroupOperations },
  { file: "src/features/signals/alerts/operations.ts", operations: alertOperations },
  { file: "src/features/instance/license/operations.ts", operations: licenseOperations },
  { file: "src/features/signals/mail/operations.ts", operations: mailOperations },
  { file: "src/features/instance/saml/operations.ts", operations: samlOperations },
  { file: "src/features/instance/settings/object-storage.ts", operations: [testObjectStorageConfig] },
  { file: "src/features/instance/self/statistics.ts", operations: [sendStats] },
  { file: "src/features/instance/health/operations.ts", operations: healthOperations },
  { file: "src/features/accounts/admin/operations.ts", operations: userOperations },
  { file: "src/features/accounts/admin/own-operations.ts", operations: ownOperations },
  { file: "src/features/accounts/members/member-operations.ts", operations: memberOperations },
  { file: "src/features/accounts/sessions/session-operations.ts", operations: sessionOperations },
  { file: "src/features/accounts/sessions/setup-operations.ts", operations: setupOperations },
  { file: "src/features/accounts/sessions/cli-login.ts", operations: cliLoginOperations },
  { file: "src/features/code/runnables/runnables.ts", operations: runnableOperations },
  { file: "src/features/accounts/admin/export-operations.ts", operations: userExportOperations },
  { file: "src/features/accounts/tokens/operations.ts", operations: tokenOperations },
  { file: "src/features/code/runnables/token-operations.ts", operations: runnableTokenOperations },
  { file: "src/features/accounts/tokens/scope-list.ts", operations: [scopeListOperation(() => operations)] },
  { file: "src/features/lifecycle/workspaces/operations.ts", operations: workspaceOperations },
  {
    file: "src/features/lifecycle/workspaces/archive-delete-operations.ts",
    operations: workspaceLifeOperations,
  },
  { file: "src/features/accounts/members/joining/membership-operations.ts", operations: peopleOperations },
  { file: "src/features/accounts/members/joining/auto-invite.ts", operations: autoInviteOperations },
  { file: "src/features/lifecycle/settings/settings-operations.ts", operations: workspaceSettingsOperations },
  { file: "src/features/lifecycle/settings/copilot-operations.ts", operations: copilotOperations },
  { file: "src/features/lifecycle/settings/default-operations.ts", operations: defaultOperations },
  { file: "src/features/tenancy/workspaces/environment.ts", operations: environmentOperations },
  { file: "src/features/lifecycle/keys/key-operations.ts", operations: encryptionKeyOperations },
  { file: "src/features/lifecycle/settings/usage-operations.ts", operations: usageOperations },
  { file: "src/features/lifecycle/export/archive-operations.ts", operations: tarballOperations },
  { file: "src/features/lifecycle/settings/storage-operations.ts", operations: storageSettingOperations },
  { file: "src/features/assets/variables/operations.ts", operations: variableOperations },
  { file: "src/features/accounts/sessions/login/login-operations.ts", operations: oauthLoginOperations },
  { file: "src/features/assets/connecting/operations.ts", operations: oauthOperations },
  { file: "src/features/assets/connecting/chat-operations.ts", operations: oauthChatOperations },
  { file: "src/features/instance/oidc/operations.ts", operations: oidcOperations },
  { file: "src/features/triggers/chat/operations.ts", operations: chatOperations },
  { file: "src/features/assets/resources/operations.ts", operations: resourceOperations },
  { file: "src/features/assets/resources/type-operations.ts", operations: resourceTypeOperations },
  { file: "src/features/accounts/folders/operations.ts", operations: folderOperations },
  { file: "src/features/accounts/groups/operations.ts", operations: groupOperations },
  { file: "src/features/accounts/groups/instance-operations.ts", operations: instanceGroupOperations },
  { file: "src/features/accounts/acls/operations.ts", operations: aclOperations },
  { file: "src/features/code/favorites/operations.ts", operations: favoriteOperations },
  { file: "src/features/runs/api/inputs/operations.ts", operations: inputOperations },
  { file: "src/features/assets/storage/operations.ts", operations: storageOperations },
  { file: "src/features/assets/storage/connection-operations.ts", operations: storageConnectionOperations },
  { file: "src/features/assets/storage/link-operations.ts", operations: storageLinkOperations },
  { file: "src/features/signals/audit/operations.ts", operations: auditOperations },
  { file: "src/features/code/scripts/imports/importer-operations.ts", operations: importerOperations },
  { file: "src/features/code/scripts/operations.ts", operations: scriptOperations },
  { file: "src/features/code/scripts/raw-operations.ts", operations: scriptRawOperations },
  { file: "src/features/code/scripts/version-operations.ts", operations: scriptVersionOperations },
  { file: "src/features/code/scripts/snapshot-operations.ts", operations: snapshotOperations },
  {
    file: "src/features/code/dependencies/operations.ts",
    operations: workspaceDependencyOperations,
  },
  { file: "src/features/code/flows/operations.ts", operations: flowOperations },
  { file: "src/features/code/flows/list-operations.ts", operations: flowListOperations },
  { file: "src/features/runs/api/run-flow/dependency-operations.ts", operations: flowDependencyOperations },
  { file: "src/features/runs/approvals/operations.ts", operations: approvalOperations },
  { file: "src/features/runs/approvals/page-operations.ts", operations: approvalPageOperations },
  { file: "src/features/runs/api/run-flow/preview-operations.ts", operations: flowPreviewOperations },
  { file: "src/features/runs/api/run-flow/restart-operations.ts", operations: flowRestartOperations },
  { file: "src/features/runs/api/read/result-operations.ts", operations: flowResultOperations },
  { file: "src/features/instance/hub/operations.ts", operations: hubOperations },
  { file: "src/features/code/apps/operations.ts", operations: appOperations },
  { file: "src/features/code/apps/list-operations.ts", operations: appListOperations },
  { file: "src/features/triggers/apps/execute-operations.ts", operations: appExecuteOperations },
  { file: "src/features/triggers/apps/public-operations.ts", operations: appPublicOperations },
  { file: "src/features/code/apps/bundle-operations.ts", operations: appBundleOperations },
  { file: "src/features/code/apps/raw-operations.ts", operations: rawAppOperations },
  { file: "src/features/code/drafts/operations.ts", operations: draftOperations },
  { file: "src/features/runs/api/run/run-operations.ts", operations: runOperations },
  { file: "src/features/runs/api/run/preview-operations.ts", operations: previewOperations },
  { file: "src/features/runs/api/run/workflow-operations.ts", operations: workflowOperations },
  { file: "src/features/runs/api/run/batch-operations.ts", operations: batchOperations },
  { file: "src/features/runs/api/read/operations.ts", operations: jobOperations },
  { file: "src/features/runs/api/run/choice-operations.ts", operations: choiceOperations },
  { file: "src/features/runs/api/read/completed-operations.ts", operations: completedOperations },
  { file: "src/features/runs/api/lists/list-operations.ts", operations: listOperations },
  { file: "src/features/runs/api/lists/count-operations.ts", operations: countOperations },
  { file: "src/features/runs/api/change/delete-operations.ts", operations: deleteOperations },
  { file: "src/features/runs/api/export/export-operations.ts", operations: exportOperations },
  { file: "src/features/runs/api/read/metrics-operations.ts", operations: metricsOperations },
  { file: "src/features/runs/api/change/cancel-operations.ts", operations: cancelOperations },
  {
    file: "src/features/runs/api/lists/concurrency-group-operations.ts",
    operations: concurrencyGroupOperations,
  },
  { file: "src/features/triggers/schedules/operations.ts", operations: scheduleOperations },
  { file: "src/features/triggers/http/operations.ts", operations: httpTriggerOperations },
  { file: "src/features/triggers/http/serve/serve-operations.ts", operations: routeOperations },
  { file: "src/features/triggers/websocket/operations.ts", operations: websocketTriggerOperations },
  { file: "src/features/lifecycle/trigger-counts/operations.ts", operations: triggersCountOperations },
  { file: "src/features/signals/webhooks/api/operations.ts", operations: webhookOperations },
  { file: "src/features/signals/webhooks/api/instance-operations.ts", operations: instanceWebhookOperations },
  { file: "src/features/triggers/mcp/operations.ts", operations: mcpOperations },
  {
    file: "src/platform/http/openapi/openapi.ts",
    operations: [openapiOperation(() => operations, INTERFACE_NOUNS)],
  },
  {
    file: "src/platform/http/openapi/reference-page.ts",
    operations: [referenceOperation(() => operations, INTERFACE_NOUNS), frontDoor],
  },
];

export const operations: Operation[] = features.flatMap((feature) => feature.operations);
