/** Members in the archive of a workspace. */
import type { ZipEntry } from "../../../lib/files/zip.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import type { ArchiveSection } from "../../../platform/app/lifecycle.ts";
import { listWorkspaceMembers } from "../../tenancy/people/members.ts";
import { createJsonEntry } from "../../tenancy/rights/archive-entry.ts";
import { workspaceMembers } from "../../tenancy/workspaces/tables.ts";

async function listUserEntries(ctx: WorkspaceContext): Promise<ZipEntry[]> {
  const members = await listWorkspaceMembers(ctx.app, ctx.caller.member.workspace_id);
  return members.map(({ email, username, is_admin, operator, disabled }) => {
    const role = is_admin ? "admin" : operator ? "operator" : "developer";
    return createJsonEntry(
      `users/${email.toWellFormed().replace(/[^\w@.+-]/gu, encodeURIComponent)}.user.json`,
      {
        username,
        role,
        disabled,
      },
    );
  });
}

export const memberSection: ArchiveSection = {
  tables: [workspaceMembers],
  domain: "users",
  isWanted: (options) => options.include_users,
  entries: listUserEntries,
};
