/** Settings in the archive of a workspace. */
import { eq } from "drizzle-orm";
import type { ZipEntry } from "../../../lib/files/zip.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import type { ArchiveOptions, ArchiveSection } from "../../../platform/app/lifecycle.ts";
import { findWorkspaceWebhook } from "../../signals/webhooks/endpoints.ts";
import { readSettings, type WorkspaceSettingValues } from "../../tenancy/workspaces/settings.ts";
import { workspaceSettings, workspaces } from "../../tenancy/workspaces/tables.ts";

/** Exports the settings. Unset ones are written as null, so that deploying the file unsets them. */
async function listSettingsEntries(ctx: WorkspaceContext, options: ArchiveOptions): Promise<ZipEntry[]> {
  const { workspace_id } = ctx.caller.member;
  const { read } = ctx.app.db;
  const settings = await readSettings(read, workspace_id);
  const [row] = await read.select().from(workspaces).where(eq(workspaces.id, workspace_id));
  const fields = {
    ...(options.settings_version === "v2" ? toGroupedFields(settings) : toFlatFields(settings)),
    webhook: await findWorkspaceWebhook(read, workspace_id),
    deploy_to: settings.deploy_to ?? null,
    mute_critical_alerts: settings.mute_critical_alerts,
    // Only one of the two fields, as it was given: the other can be derived.
    ai_resource: settings.ai_config ? undefined : settings.ai_resource,
    ai_config: settings.ai_config,
    large_file_storage: row?.large_file_storage ?? null,
    git_sync: settings.git_sync ?? null,
    default_app: settings.default_app ?? null,
    default_scripts: settings.default_scripts ?? null,
    // As with the provider: unset ones are absent, so that a file without them does not differ.
    color: settings.color,
    operator_settings: settings.operator_settings,
    success_handler: settings.success_handler,
    slack_command_script: settings.chat_command_script,
    datatable: settings.datatable,
    name: row?.name,
  };
  return [{ name: "settings.json", content: JSON.stringify(fields, null, 2) }];
}

/** The error handler and the automatic invitations, each setting separately. */
const toFlatFields = (settings: WorkspaceSettingValues) => ({
  auto_invite_enabled: settings.auto_invite_domain !== undefined,
  auto_invite_as: settings.auto_invite_operator ? "operator" : "developer",
  auto_invite_mode: settings.auto_add ? "add" : "invite",
  instance_groups: settings.instance_groups,
  instance_groups_roles: settings.instance_groups_roles,
  error_handler: settings.error_handler ?? null,
  error_handler_extra_args: settings.error_handler_extra_args ?? null,
  error_handler_muted_on_cancel: settings.error_handler_muted_on_cancel ?? false,
  error_handler_muted_on_user_path: settings.error_handler_muted_on_user_path,
});

/** The same in the form that newer clients request. Invitations of which nobody has said anything are absent. */
function toGroupedFields(settings: WorkspaceSettingValues) {
  const { auto_add, error_handler, instance_groups, instance_groups_roles } = settings;
  return {
    auto_invite:
      auto_add === undefined && instance_groups === undefined
        ? undefined
        : {
            enabled: settings.auto_invite_domain !== undefined,
            operator: settings.auto_invite_operator ?? false,
            mode: auto_add ? "add" : "invite",
            instance_groups,
            instance_groups_roles,
          },
    error_handler:
      error_handler === undefined
        ? null
        : {
            path: error_handler,
            extra_args: settings.error_handler_extra_args,
            // Clients that set neither send false for both.
            muted_on_cancel: settings.error_handler_muted_on_cancel || undefined,
            muted_on_user_path: settings.error_handler_muted_on_user_path || undefined,
          },
  };
}

export const settingsSection: ArchiveSection = {
  tables: [workspaceSettings],
  domain: "workspaces",
  isWanted: (options) => options.include_settings,
  adminOnly: true,
  entries: listSettingsEntries,
};
