/** Folders, people, groups and what is settled for the workspace, as the files that existing clients know. */
import { eq } from "drizzle-orm";
import type { ZipEntry } from "../../../lib/files/zip.ts";
import { EVERYBODY } from "../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { listFolders } from "../../accounts/folders/folders.ts";
import { listGroups, membersOf } from "../../accounts/groups/groups.ts";
import { type DependencyLanguage, dependencyFile } from "../../code/dependencies/files.ts";
import { listOf } from "../../code/dependencies/operations.ts";
import { workspaceWebhook } from "../../signals/webhooks/endpoints.ts";
import { listMembers } from "../../tenancy/people/members.ts";
import { currentKey } from "../../tenancy/workspaces/secrets.ts";
import { readSettings } from "../../tenancy/workspaces/settings.ts";
import { workspaces } from "../../tenancy/workspaces/tables.ts";
import { jsonEntry } from "./archive-items.ts";

/** Folders that every workspace begins with are taken along once something was said of them. */
export async function folderEntries(ctx: WorkspaceContext): Promise<ZipEntry[]> {
  const rows = await listFolders(ctx);
  return rows
    .filter(({ edited_at }) => edited_at.getTime() > 0)
    .map(({ name, summary, display_name, owners, owners_implied, extra_perms, extra }) =>
      jsonEntry(
        `f/${name}/folder.meta.json`,
        {
          summary,
          display_name: display_name ?? name,
          ...(!owners_implied && { owners, extra_perms }),
        },
        extra,
      ),
    );
}

export async function userEntries(ctx: WorkspaceContext): Promise<ZipEntry[]> {
  const members = await listMembers(ctx.app, ctx.caller.member.workspace_id);
  return members.map(({ email, username, is_admin, operator, disabled }) => {
    const role = is_admin ? "admin" : operator ? "operator" : "developer";
    return jsonEntry(`users/${email.toWellFormed().replace(/[^\w@.+-]/gu, encodeURIComponent)}.user.json`, {
      username,
      role,
      disabled,
    });
  });
}

/** Who manages a group and is in it stands among its admins alone. */
export async function groupEntries(ctx: WorkspaceContext): Promise<ZipEntry[]> {
  const groups = (await listGroups(ctx)).filter(({ name }) => name !== EVERYBODY);
  return Promise.all(
    groups.map(async ({ name, summary, extra_perms }) => {
      const all = (await membersOf(ctx, name)).map((username) => `u/${username}`);
      const isAdmin = (who: string) => extra_perms[who] === true;
      const fields = {
        summary,
        members: all.filter((who) => !isAdmin(who)),
        admins: all.filter(isAdmin).sort(),
      };
      return jsonEntry(`groups/${name}.group.json`, fields);
    }),
  );
}

/** What is not settled is said as null, so that it is unset where the file is deployed. */
export async function settingsEntries(ctx: WorkspaceContext): Promise<ZipEntry[]> {
  const { workspace_id } = ctx.caller.member;
  const { read } = ctx.app.db;
  const settings = await readSettings(read, workspace_id);
  const [row] = await read.select().from(workspaces).where(eq(workspaces.id, workspace_id));
  const fields = {
    auto_invite_enabled: settings.auto_invite_domain !== undefined,
    auto_invite_as: settings.auto_invite_operator ? "operator" : "developer",
    auto_invite_mode: settings.auto_add ? "add" : "invite",
    webhook: await workspaceWebhook(read, workspace_id),
    deploy_to: settings.deploy_to ?? null,
    error_handler: settings.error_handler ?? null,
    error_handler_extra_args: settings.error_handler_extra_args ?? null,
    error_handler_muted_on_cancel: settings.error_handler_muted_on_cancel ?? false,
    mute_critical_alerts: settings.mute_critical_alerts,
    ai_resource: settings.ai_resource,
    large_file_storage: row?.large_file_storage ?? null,
    git_sync: settings.git_sync ?? null,
    default_app: settings.default_app ?? null,
    default_scripts: settings.default_scripts ?? null,
    name: row?.name,
  };
  return [{ name: "settings.json", content: JSON.stringify(fields, null, 2) }];
}

export async function dependencyEntries(ctx: WorkspaceContext): Promise<ZipEntry[]> {
  const rows = await listOf(ctx);
  return rows.map(({ language, name, content }) => ({
    name: dependencyFile(language as DependencyLanguage, name),
    content,
  }));
}

const KEY_READ = { operation: "workspaces.get_encryption_key", action_kind: "Execute" } as const;

/** The key in plain. Reading it leaves an audit row. */
export async function keyEntries(ctx: WorkspaceContext): Promise<ZipEntry[]> {
  const { workspace_id } = ctx.caller.member;
  const { text } = await ctx.write({ resource: workspace_id, as: KEY_READ }, (tx) =>
    currentKey(ctx.app, tx, workspace_id),
  );
  return [{ name: "encryption_key.json", content: JSON.stringify(text) }];
}
