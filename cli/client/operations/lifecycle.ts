import type * as archive from "../../../src/features/lifecycle/export/archive-operations.ts";
import type * as key from "../../../src/features/lifecycle/keys/key-operations.ts";
import type * as copilot from "../../../src/features/lifecycle/settings/copilot-operations.ts";
import type * as defaults from "../../../src/features/lifecycle/settings/default-operations.ts";
import type * as settings from "../../../src/features/lifecycle/settings/settings-operations.ts";
import type * as storage from "../../../src/features/lifecycle/settings/storage-operations.ts";
import type * as usage from "../../../src/features/lifecycle/settings/usage-operations.ts";
import type * as archiveDelete from "../../../src/features/lifecycle/workspaces/archive-delete-operations.ts";
import type * as workspaces from "../../../src/features/lifecycle/workspaces/operations.ts";
import { remote } from "../remote-operation.ts";

export const tarballWorkspace = remote<typeof archive.tarballWorkspace>(
  "GET",
  "/w/{workspace}/workspaces/tarball",
  "raw",
);

export const getEncryptionKey = remote<typeof key.getEncryptionKey>(
  "GET",
  "/w/{workspace}/workspaces/encryption_key",
  "json",
);
export const setEncryptionKey = remote<typeof key.setEncryptionKey>(
  "POST",
  "/w/{workspace}/workspaces/encryption_key",
  "text",
);

export const editCopilotConfig = remote<typeof copilot.editCopilotConfig>(
  "POST",
  "/w/{workspace}/workspaces/edit_copilot_config",
  "text",
);

export const changeWorkspaceColor = remote<typeof defaults.changeWorkspaceColor>(
  "POST",
  "/w/{workspace}/workspaces/change_workspace_color",
  "text",
);
export const editChatCommand = remote<typeof defaults.editChatCommand>(
  "POST",
  "/w/{workspace}/workspaces/edit_chat_command",
  "text",
);
export const editDataTableConfig = remote<typeof defaults.editDataTableConfig>(
  "POST",
  "/w/{workspace}/workspaces/edit_datatable_config",
  "json",
);
export const editDefaultApp = remote<typeof defaults.editDefaultApp>(
  "POST",
  "/w/{workspace}/workspaces/edit_default_app",
  "text",
);
export const editDefaultScripts = remote<typeof defaults.editDefaultScripts>(
  "POST",
  "/w/{workspace}/workspaces/default_scripts",
  "text",
);
export const editInstanceGroups = remote<typeof defaults.editInstanceGroups>(
  "POST",
  "/w/{workspace}/workspaces/edit_instance_groups",
  "text",
);
export const editOperatorSettings = remote<typeof defaults.editOperatorSettings>(
  "POST",
  "/w/{workspace}/workspaces/operator_settings",
  "text",
);
export const editSuccessHandler = remote<typeof defaults.editSuccessHandler>(
  "POST",
  "/w/{workspace}/workspaces/edit_success_handler",
  "text",
);

export const editDeployTo = remote<typeof settings.editDeployTo>(
  "POST",
  "/w/{workspace}/workspaces/edit_deploy_to",
  "text",
);
export const editDeployUiConfig = remote<typeof settings.editDeployUiConfig>(
  "POST",
  "/w/{workspace}/workspaces/edit_deploy_ui_config",
  "json",
);
export const editErrorHandler = remote<typeof settings.editErrorHandler>(
  "POST",
  "/w/{workspace}/workspaces/edit_error_handler",
  "text",
);
export const editGitSyncConfig = remote<typeof settings.editGitSyncConfig>(
  "POST",
  "/w/{workspace}/workspaces/edit_git_sync_config",
  "json",
);
export const editWebhook = remote<typeof settings.editWebhook>(
  "POST",
  "/w/{workspace}/workspaces/edit_webhook",
  "text",
);
export const getSettings = remote<typeof settings.getSettings>(
  "GET",
  "/w/{workspace}/workspaces/get_settings",
  "json",
);

export const editLargeFileStorageConfig = remote<typeof storage.editLargeFileStorageConfig>(
  "POST",
  "/w/{workspace}/workspaces/edit_large_file_storage_config",
  "json",
);

export const getPremiumInfo = remote<typeof usage.getPremiumInfo>(
  "GET",
  "/w/{workspace}/workspaces/premium_info",
  "json",
);
export const setAutomaticBilling = remote<typeof usage.setAutomaticBilling>(
  "POST",
  "/w/{workspace}/workspaces/set_automatic_billing",
  "text",
);

export const archiveWorkspace = remote<typeof archiveDelete.archiveWorkspace>(
  "POST",
  "/w/{workspace}/workspaces/archive",
  "text",
);
export const changeWorkspaceIdOperation = remote<typeof archiveDelete.changeWorkspaceIdOperation>(
  "POST",
  "/w/{workspace}/workspaces/change_workspace_id",
  "text",
);
export const changeWorkspaceName = remote<typeof archiveDelete.changeWorkspaceName>(
  "POST",
  "/w/{workspace}/workspaces/change_workspace_name",
  "text",
);
export const deleteWorkspace = remote<typeof archiveDelete.deleteWorkspace>(
  "DELETE",
  "/workspaces/delete/{workspace}",
  "text",
);
export const getWorkspaceName = remote<typeof archiveDelete.getWorkspaceName>(
  "GET",
  "/w/{workspace}/workspaces/get_workspace_name",
  "text",
);
export const unarchiveWorkspace = remote<typeof archiveDelete.unarchiveWorkspace>(
  "POST",
  "/workspaces/unarchive/{workspace}",
  "text",
);

export const createWorkspace = remote<typeof workspaces.createWorkspace>(
  "POST",
  "/workspaces/create",
  "text",
);
export const listWorkspaces = remote<typeof workspaces.listWorkspaces>("GET", "/workspaces/list", "json");
export const listWorkspacesAsSuperAdmin = remote<typeof workspaces.listWorkspacesAsSuperAdmin>(
  "GET",
  "/workspaces/list_as_superadmin",
  "json",
);
