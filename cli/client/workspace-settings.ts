/** Workspace settings by name: how each is parsed, and which operation changes it. */

import { createUsageError } from "../terminal/text/failure.ts";
import { editAutoInviteOperation } from "./operations/accounts.ts";
import {
  changeWorkspaceColor,
  changeWorkspaceName,
  editChatCommand,
  editCopilotConfig,
  editDataTableConfig,
  editDefaultApp,
  editDefaultScripts,
  editDeployTo,
  editDeployUiConfig,
  editErrorHandler,
  editGitSyncConfig,
  editInstanceGroups,
  editLargeFileStorageConfig,
  editOperatorSettings,
  editSuccessHandler,
  editWebhook,
  getSettings,
  setAutomaticBilling,
} from "./operations/lifecycle.ts";
import { setEnvironmentVariable } from "./operations/tenancy.ts";
import { ENVIRONMENT_PREFIX, SETTING_NAMES, type SETTINGS_BY_NAME } from "./setting-names.ts";
import type { ServiceClient } from "./transport.ts";

type CurrentSettings = Awaited<ReturnType<typeof readWorkspaceSettings>>;
/** Changes one setting of a workspace through its operation. @param value undefined removes the setting */
type SaveSetting = (
  client: ServiceClient,
  workspace: string,
  value: never,
  current: CurrentSettings,
) => Promise<string>;

interface Setting {
  kind: "text" | "flag" | "json";
  save: SaveSetting;
}

const text = (
  save: (client: ServiceClient, workspace: string, value?: string) => Promise<string>,
): Setting => ({
  kind: "text",
  save,
});

const errorHandlerSetting = (kind: Setting["kind"], name: string): Setting => ({
  kind,
  save: (client, workspace, value: never, current) => {
    const { error_handler, error_handler_extra_args, error_handler_muted_on_cancel } = current;
    const { error_handler_muted_on_user_path } = current;
    const body = {
      error_handler,
      error_handler_extra_args,
      error_handler_muted_on_cancel,
      error_handler_muted_on_user_path,
      [name]: value,
    };
    return client.call(editErrorHandler, { workspace, body });
  },
});

const autoInviteSetting = (name: "auto_add" | "operator"): Setting => ({
  kind: "flag",
  save: (client, workspace, value: never, current) => {
    const { auto_invite_domain, auto_invite_operator: operator, auto_add } = current;
    const body = { operator, auto_add, invite_all: auto_invite_domain === "*", [name]: value };
    return client.call(editAutoInviteOperation, { workspace, body });
  },
});

const copilotSetting = (kind: Setting["kind"], name: string): Setting => ({
  kind,
  save: (client, workspace, value: never, current) => {
    const { ai_resource, code_completion_enabled } = current;
    const body = { ai_resource, code_completion_enabled, [name]: value };
    return client.call(editCopilotConfig, { workspace, body });
  },
});

const SETTINGS: Record<(typeof SETTINGS_BY_NAME)[number], Setting> = {
  color: text((client, workspace, color) =>
    client.call(changeWorkspaceColor, { workspace, body: { color } }),
  ),
  success_handler: {
    kind: "json",
    save: (client, workspace, value: never) =>
      client.call(editSuccessHandler, { workspace, body: value ?? {} }),
  },
  instance_groups: {
    kind: "json",
    save: (client, workspace, groups: never, { instance_groups_roles: roles }) =>
      client.call(editInstanceGroups, { workspace, body: { groups, roles } }),
  },
  instance_groups_roles: {
    kind: "json",
    save: (client, workspace, roles: never, { instance_groups: groups }) =>
      client.call(editInstanceGroups, { workspace, body: { groups, roles } }),
  },
  datatable: {
    kind: "json",
    save: async (client, workspace, settings: never) => {
      await client.call(editDataTableConfig, { workspace, body: { settings } });
      return `data tables of workspace ${workspace} stored; data tables are not offered here`;
    },
  },
  operator_settings: {
    kind: "json",
    save: (client, workspace, value: never) =>
      client.call(editOperatorSettings, { workspace, body: value ?? {} }),
  },
  name: text((client, workspace, new_name = "") =>
    client.call(changeWorkspaceName, { workspace, body: { new_name } }),
  ),
  webhook: text((client, workspace, webhook) => client.call(editWebhook, { workspace, body: { webhook } })),
  deploy_to: text((client, workspace, deploy_to) =>
    client.call(editDeployTo, { workspace, body: { deploy_to } }),
  ),
  default_app: text((client, workspace, default_app_path) =>
    client.call(editDefaultApp, { workspace, body: { default_app_path } }),
  ),
  chat_command_script: text((client, workspace, chat_command_script) =>
    client.call(editChatCommand, { workspace, body: { chat_command_script } }),
  ),
  error_handler: errorHandlerSetting("text", "error_handler"),
  error_handler_extra_args: errorHandlerSetting("json", "error_handler_extra_args"),
  error_handler_muted_on_cancel: errorHandlerSetting("flag", "error_handler_muted_on_cancel"),
  error_handler_muted_on_user_path: errorHandlerSetting("flag", "error_handler_muted_on_user_path"),
  auto_invite_operator: autoInviteSetting("operator"),
  auto_add: autoInviteSetting("auto_add"),
  ai_config: {
    kind: "json",
    save: (client, workspace, ai_config: Record<string, unknown>) =>
      client.call(editCopilotConfig, {
        workspace,
        body: { code_completion_enabled: false, ...ai_config },
      } as never),
  } as Setting,
  ai_resource: copilotSetting("json", "ai_resource"),
  code_completion_enabled: copilotSetting("flag", "code_completion_enabled"),
  automatic_billing: {
    kind: "flag",
    save: (client, workspace, automatic_billing: never) =>
      client.call(setAutomaticBilling, { workspace, body: { automatic_billing } }),
  },
  large_file_storage: {
    kind: "json",
    save: (client, workspace, large_file_storage: never) =>
      client.call(editLargeFileStorageConfig, { workspace, body: { large_file_storage } }),
  },
  git_sync: {
    kind: "json",
    save: (client, workspace, git_sync_settings: never) =>
      client.call(editGitSyncConfig, { workspace, body: { git_sync_settings } }),
  },
  deploy_ui: {
    kind: "json",
    save: (client, workspace, deploy_ui_settings: never) =>
      client.call(editDeployUiConfig, { workspace, body: { deploy_ui_settings } }),
  },
  default_scripts: {
    kind: "json",
    save: (client, workspace, value: never) =>
      client.call(editDefaultScripts, { workspace, body: value ?? {} }),
  },
};

export const isSetting = (name: string): boolean =>
  name.startsWith(ENVIRONMENT_PREFIX) || Object.hasOwn(SETTINGS, name);

/** Reads all settings, and the workspace's name. */
export function readWorkspaceSettings(client: ServiceClient, workspace: string) {
  return client.call(getSettings, { workspace });
}

/**
 * Changes one setting.
 * @param given as on the command line; empty removes the setting
 * @throws a usage error for an unknown setting, or an invalid value
 */
export async function changeSetting(
  client: ServiceClient,
  workspace: string,
  name: string,
  given: string,
): Promise<string> {
  if (name.startsWith(ENVIRONMENT_PREFIX)) {
    const body = { name: name.slice(ENVIRONMENT_PREFIX.length), value: given || null };
    return client.call(setEnvironmentVariable, { workspace, body });
  }
  const setting = Object.hasOwn(SETTINGS, name) ? SETTINGS[name as keyof typeof SETTINGS] : undefined;
  if (!setting) throw createUsageError(`${name} is not a setting`, `use one of ${SETTING_NAMES.join(", ")}`);
  const value = readValue(name, setting.kind, given);
  return setting.save(client, workspace, value as never, await readWorkspaceSettings(client, workspace));
}

function readValue(name: string, kind: Setting["kind"], given: string): unknown {
  if (given === "") return undefined;
  if (kind === "text") return given;
  if (kind === "flag") {
    if (given === "true" || given === "false") return given === "true";
    throw createUsageError(`${name} ${given}: must be true or false`);
  }
  try {
    return JSON.parse(given);
  } catch (cause) {
    throw createUsageError(`${name}: must be JSON: ${(cause as Error).message}`);
  }
}
