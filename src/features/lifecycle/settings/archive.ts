/** Settings in the archive of a workspace. */
import { eq } from "drizzle-orm";
import type { ZipEntry } from "../../../lib/files/zip.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import type { ArchiveSection } from "../../../platform/app/lifecycle.ts";
import { findWorkspaceWebhook } from "../../signals/webhooks/endpoints.ts";
import { readSettings } from "../../tenancy/workspaces/settings.ts";
import { workspaceSettings, workspaces } from "../../tenancy/workspaces/tables.ts";

/** Exports the settings. Unset ones are written as null, so that deploying the file unsets them. */
async function listSettingsEntries(ctx: WorkspaceContext): Promise<ZipEntry[]> {
  const { workspace_id } = ctx.caller.member;
  const { read } = ctx.app.db;
  const settings = await readSettings(read, workspace_id);
  const [row] = await read.select().from(workspaces).where(eq(workspaces.id, workspace_id));
  const fields = {
    auto_invite_enabled: settings.auto_invite_domain !== undefined,
    auto_invite_as: settings.auto_invite_operator ? "operator" : "developer",
    auto_invite_mode: settings.auto_add ? "add" : "invite",
    webhook: await findWorkspaceWebhook(read, workspace_id),
    deploy_to: settings.deploy_to ?? null,
    error_handler: settings.error_handler ?? null,
    error_handler_extra_args: settings.error_handler_extra_args ?? null,
    error_handler_muted_on_cancel: settings.error_handler_muted_on_cancel ?? false,
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
    name: row?.name,
  };
  return [{ name: "settings.json", content: JSON.stringify(fields, null, 2) }];
}

export const settingsSection: ArchiveSection = {
  tables: [workspaceSettings],
  domain: "workspaces",
  isWanted: (options) => options.include_settings,
  adminOnly: true,
  entries: listSettingsEntries,
};
