/** The one list of features: a new one is a line here. The folder is where `svc routes` says an operation lives. */
import { openapiOperation } from "../http/openapi.ts";
import type { Operation } from "../http/operation.ts";
import { frontDoor, referenceOperation } from "../http/reference-page.ts";
import { aclOperations } from "./acls/operations.ts";
import { alertOperations } from "./alerts/operations.ts";
import { appBundleOperations } from "./apps/bundle-operations.ts";
import { appExecuteOperations } from "./apps/execute-operations.ts";
import { appListOperations } from "./apps/list-operations.ts";
import { appOperations } from "./apps/operations.ts";
import { appPublicOperations } from "./apps/public-operations.ts";
import { rawAppOperations } from "./apps/raw-operations.ts";
import { auditOperations } from "./audit/operations.ts";
import { chatOperations } from "./chat/operations.ts";
import { concurrencyGroupOperations } from "./concurrency-groups/operations.ts";
import { draftOperations } from "./drafts/operations.ts";
import { favoriteOperations } from "./favorites/operations.ts";
import { approvalOperations } from "./flows/approvals/operations.ts";
import { approvalPageOperations } from "./flows/approvals/page-operations.ts";
import { flowDependencyOperations } from "./flows/dependency-operations.ts";
import { flowListOperations } from "./flows/list-operations.ts";
import { flowOperations } from "./flows/operations.ts";
import { flowPreviewOperations } from "./flows/preview-operations.ts";
import { flowRestartOperations } from "./flows/restart-operations.ts";
import { flowResultOperations } from "./flows/result-operations.ts";
import { folderOperations } from "./folders/operations.ts";
import { instanceGroupOperations } from "./groups/instance-operations.ts";
import { groupOperations } from "./groups/operations.ts";
import { healthOperations } from "./health/operations.ts";
import { httpTriggerOperations } from "./http-triggers/operations.ts";
import { routeOperations } from "./http-triggers/serve-operations.ts";
import { hubOperations } from "./hub/operations.ts";
import { inputOperations } from "./inputs/operations.ts";
import { instanceOperations } from "./instance/operations.ts";
import { sendStats } from "./instance/statistics.ts";
import { batchOperations } from "./jobs/batch-operations.ts";
import { cancelOperations } from "./jobs/cancel-operations.ts";
import { choiceOperations } from "./jobs/choice-operations.ts";
import { completedOperations } from "./jobs/completed-operations.ts";
import { countOperations } from "./jobs/count-operations.ts";
import { deleteOperations } from "./jobs/delete-operations.ts";
import { exportOperations } from "./jobs/export-operations.ts";
import { listOperations } from "./jobs/list-operations.ts";
import { metricsOperations } from "./jobs/metrics-operations.ts";
import { jobOperations } from "./jobs/operations.ts";
import { previewOperations } from "./jobs/preview-operations.ts";
import { runOperations } from "./jobs/run-operations.ts";
import { workflowOperations } from "./jobs/workflow-operations.ts";
import { licenseOperations } from "./license/operations.ts";
import { mailOperations } from "./mail/operations.ts";
import { mcpOperations } from "./mcp/operations.ts";
import { NOUNS, SAME_NOUN } from "./nouns.ts";
import { oauthChatOperations } from "./oauth/chat-operations.ts";
import { oauthLoginOperations } from "./oauth/login-operations.ts";
import { oauthOperations } from "./oauth/operations.ts";
import { oidcOperations } from "./oidc/operations.ts";
import { resourceOperations } from "./resources/operations.ts";
import { resourceTypeOperations } from "./resources/type-operations.ts";
import { samlOperations } from "./saml/operations.ts";
import { scheduleOperations } from "./schedules/operations.ts";
import { importerOperations } from "./scripts/importer-operations.ts";
import { scriptOperations } from "./scripts/operations.ts";
import { scriptRawOperations } from "./scripts/raw-operations.ts";
import { snapshotOperations } from "./scripts/snapshot-operations.ts";
import { scriptVersionOperations } from "./scripts/version-operations.ts";
import { testObjectStorageConfig } from "./settings/object-storage.ts";
import { settingOperations } from "./settings/operations.ts";
import { storageConnectionOperations } from "./storage/connection-operations.ts";
import { storageLinkOperations } from "./storage/link-operations.ts";
import { storageOperations } from "./storage/operations.ts";
import { tokenOperations } from "./tokens/operations.ts";
import { runnableTokenOperations } from "./tokens/runnable-operations.ts";
import { scopeListOperation } from "./tokens/scope-list.ts";
import { triggersCountOperations } from "./triggers/operations.ts";
import { cliLoginOperations } from "./users/cli-login.ts";
import { userExportOperations } from "./users/export-operations.ts";
import { memberOperations } from "./users/member-operations.ts";
import { userOperations } from "./users/operations.ts";
import { ownOperations } from "./users/own-operations.ts";
import { runnableOperations } from "./users/runnables.ts";
import { sessionOperations } from "./users/session-operations.ts";
import { setupOperations } from "./users/setup-operations.ts";
import { variableOperations } from "./variables/operations.ts";
import { instanceWebhookOperations } from "./webhooks/instance-operations.ts";
import { webhookOperations } from "./webhooks/operations.ts";
import { websocketTriggerOperations } from "./websocket-triggers/operations.ts";
import { workerGroupOperations } from "./workers/group-operations.ts";
import { workerOperations } from "./workers/operations.ts";
import { workspaceDependencyOperations } from "./workspace-dependencies/operations.ts";
import { autoInviteOperations } from "./workspaces/auto-invite.ts";
import { copilotOperations } from "./workspaces/copilot-operations.ts";
import { defaultOperations } from "./workspaces/default-operations.ts";
import { environmentOperations } from "./workspaces/environment.ts";
import { encryptionKeyOperations } from "./workspaces/key-operations.ts";
import { workspaceLifeOperations } from "./workspaces/life-operations.ts";
import { workspaceOperations } from "./workspaces/operations.ts";
import { peopleOperations } from "./workspaces/people-operations.ts";
import { workspaceSettingsOperations } from "./workspaces/settings-operations.ts";
import { storageSettingOperations } from "./workspaces/storage-operations.ts";
import { tarballOperations } from "./workspaces/tarball-operations.ts";
import { usageOperations } from "./workspaces/usage-operations.ts";

export interface Feature {
  /** Below the repository's root. */
  file: string;
  operations: Operation[];
}

const INTERFACE_NOUNS = { about: NOUNS, same: SAME_NOUN };

export const features: Feature[] = [
  { file: "src/features/instance/operations.ts", operations: instanceOperations },
  { file: "src/features/settings/operations.ts", operations: settingOperations },
  { file: "src/features/workers/operations.ts", operations: workerOperations },
  { file: "src/features/workers/group-operations.ts", operations: workerGroupOperations },
  { file: "src/features/alerts/operations.ts", operations: alertOperations },
  { file: "src/features/license/operations.ts", operations: licenseOperations },
  { file: "src/features/mail/operations.ts", operations: mailOperations },
  { file: "src/features/saml/operations.ts", operations: samlOperations },
  { file: "src/features/settings/object-storage.ts", operations: [testObjectStorageConfig] },
  { file: "src/features/instance/statistics.ts", operations: [sendStats] },
  { file: "src/features/health/operations.ts", operations: healthOperations },
  { file: "src/features/users/operations.ts", operations: userOperations },
  { file: "src/features/users/own-operations.ts", operations: ownOperations },
  { file: "src/features/users/member-operations.ts", operations: memberOperations },
  { file: "src/features/users/session-operations.ts", operations: sessionOperations },
  { file: "src/features/users/setup-operations.ts", operations: setupOperations },
  { file: "src/features/users/cli-login.ts", operations: cliLoginOperations },
  { file: "src/features/users/runnables.ts", operations: runnableOperations },
  { file: "src/features/users/export-operations.ts", operations: userExportOperations },
  { file: "src/features/tokens/operations.ts", operations: tokenOperations },
  { file: "src/features/tokens/runnable-operations.ts", operations: runnableTokenOperations },
  { file: "src/features/tokens/scope-list.ts", operations: [scopeListOperation(() => operations)] },
  { file: "src/features/workspaces/operations.ts", operations: workspaceOperations },
  { file: "src/features/workspaces/life-operations.ts", operations: workspaceLifeOperations },
  { file: "src/features/workspaces/people-operations.ts", operations: peopleOperations },
  { file: "src/features/workspaces/auto-invite.ts", operations: autoInviteOperations },
  { file: "src/features/workspaces/settings-operations.ts", operations: workspaceSettingsOperations },
  { file: "src/features/workspaces/copilot-operations.ts", operations: copilotOperations },
  { file: "src/features/workspaces/default-operations.ts", operations: defaultOperations },
  { file: "src/features/workspaces/environment.ts", operations: environmentOperations },
  { file: "src/features/workspaces/key-operations.ts", operations: encryptionKeyOperations },
  { file: "src/features/workspaces/usage-operations.ts", operations: usageOperations },
  { file: "src/features/workspaces/tarball-operations.ts", operations: tarballOperations },
  { file: "src/features/workspaces/storage-operations.ts", operations: storageSettingOperations },
  { file: "src/features/variables/operations.ts", operations: variableOperations },
  { file: "src/features/oauth/login-operations.ts", operations: oauthLoginOperations },
  { file: "src/features/oauth/operations.ts", operations: oauthOperations },
  { file: "src/features/oauth/chat-operations.ts", operations: oauthChatOperations },
  { file: "src/features/oidc/operations.ts", operations: oidcOperations },
  { file: "src/features/chat/operations.ts", operations: chatOperations },
  { file: "src/features/resources/operations.ts", operations: resourceOperations },
  { file: "src/features/resources/type-operations.ts", operations: resourceTypeOperations },
  { file: "src/features/folders/operations.ts", operations: folderOperations },
  { file: "src/features/groups/operations.ts", operations: groupOperations },
  { file: "src/features/groups/instance-operations.ts", operations: instanceGroupOperations },
  { file: "src/features/acls/operations.ts", operations: aclOperations },
  { file: "src/features/favorites/operations.ts", operations: favoriteOperations },
  { file: "src/features/inputs/operations.ts", operations: inputOperations },
  { file: "src/features/storage/operations.ts", operations: storageOperations },
  { file: "src/features/storage/connection-operations.ts", operations: storageConnectionOperations },
  { file: "src/features/storage/link-operations.ts", operations: storageLinkOperations },
  { file: "src/features/audit/operations.ts", operations: auditOperations },
  { file: "src/features/scripts/importer-operations.ts", operations: importerOperations },
  { file: "src/features/scripts/operations.ts", operations: scriptOperations },
  { file: "src/features/scripts/raw-operations.ts", operations: scriptRawOperations },
  { file: "src/features/scripts/version-operations.ts", operations: scriptVersionOperations },
  { file: "src/features/scripts/snapshot-operations.ts", operations: snapshotOperations },
  {
    file: "src/features/workspace-dependencies/operations.ts",
    operations: workspaceDependencyOperations,
  },
  { file: "src/features/flows/operations.ts", operations: flowOperations },
  { file: "src/features/flows/list-operations.ts", operations: flowListOperations },
  { file: "src/features/flows/dependency-operations.ts", operations: flowDependencyOperations },
  { file: "src/features/flows/approvals/operations.ts", operations: approvalOperations },
  { file: "src/features/flows/approvals/page-operations.ts", operations: approvalPageOperations },
  { file: "src/features/flows/preview-operations.ts", operations: flowPreviewOperations },
  { file: "src/features/flows/restart-operations.ts", operations: flowRestartOperations },
  { file: "src/features/flows/result-operations.ts", operations: flowResultOperations },
  { file: "src/features/hub/operations.ts", operations: hubOperations },
  { file: "src/features/apps/operations.ts", operations: appOperations },
  { file: "src/features/apps/list-operations.ts", operations: appListOperations },
  { file: "src/features/apps/execute-operations.ts", operations: appExecuteOperations },
  { file: "src/features/apps/public-operations.ts", operations: appPublicOperations },
  { file: "src/features/apps/bundle-operations.ts", operations: appBundleOperations },
  { file: "src/features/apps/raw-operations.ts", operations: rawAppOperations },
  { file: "src/features/drafts/operations.ts", operations: draftOperations },
  { file: "src/features/jobs/run-operations.ts", operations: runOperations },
  { file: "src/features/jobs/preview-operations.ts", operations: previewOperations },
  { file: "src/features/jobs/workflow-operations.ts", operations: workflowOperations },
  { file: "src/features/jobs/batch-operations.ts", operations: batchOperations },
  { file: "src/features/jobs/operations.ts", operations: jobOperations },
  { file: "src/features/jobs/choice-operations.ts", operations: choiceOperations },
  { file: "src/features/jobs/completed-operations.ts", operations: completedOperations },
  { file: "src/features/jobs/list-operations.ts", operations: listOperations },
  { file: "src/features/jobs/count-operations.ts", operations: countOperations },
  { file: "src/features/jobs/delete-operations.ts", operations: deleteOperations },
  { file: "src/features/jobs/export-operations.ts", operations: exportOperations },
  { file: "src/features/jobs/metrics-operations.ts", operations: metricsOperations },
  { file: "src/features/jobs/cancel-operations.ts", operations: cancelOperations },
  { file: "src/features/concurrency-groups/operations.ts", operations: concurrencyGroupOperations },
  { file: "src/features/schedules/operations.ts", operations: scheduleOperations },
  { file: "src/features/http-triggers/operations.ts", operations: httpTriggerOperations },
  { file: "src/features/http-triggers/serve-operations.ts", operations: routeOperations },
  { file: "src/features/websocket-triggers/operations.ts", operations: websocketTriggerOperations },
  { file: "src/features/triggers/operations.ts", operations: triggersCountOperations },
  { file: "src/features/webhooks/operations.ts", operations: webhookOperations },
  { file: "src/features/webhooks/instance-operations.ts", operations: instanceWebhookOperations },
  { file: "src/features/mcp/operations.ts", operations: mcpOperations },
  { file: "src/http/openapi.ts", operations: [openapiOperation(() => operations, INTERFACE_NOUNS)] },
  {
    file: "src/http/reference-page.ts",
    operations: [referenceOperation(() => operations, INTERFACE_NOUNS), frontDoor],
  },
];

export const operations: Operation[] = features.flatMap((feature) => feature.operations);
