/** Explains who may do what with an item, and why, by the rules of `platform/access/permissions.ts`. */
import { and, eq } from "drizzle-orm";
import { BadRequest } from "../../../lib/errors.ts";
import * as z from "../../../lib/zod/z.ts";
import {
  canManage,
  canRead,
  canWrite,
  listGrantees,
  type Permissions,
} from "../../../platform/access/permissions.ts";
import type { Member, WorkspaceContext } from "../../../platform/app/context.ts";
import { folders } from "../../tenancy/people/folder-tables.ts";
import { listWorkspaceMembers } from "../../tenancy/people/members.ts";
import { getAcl } from "./service.ts";

const Right = z.enum(["read", "write", "owner"]);
type Right = z.output<typeof Right>;

export const Access = z.object({
  username: z.string(),
  right: Right.describe(
    "`read` sees and runs it, `write` changes it too, `owner` also renames and archives it",
  ),
  operator: z.boolean().describe("whether they are an operator, who only runs and views"),
  reasons: z.array(
    z.object({
      by: z
        .enum(["admin", "path", "folder", "item"])
        .describe(
          "admins have all rights; the others come from the item's path, its folder, or the item itself",
        ),
      right: Right,
      grantee: z.string().optional().describe("`u/<user>` or `g/<group>` that has the grant"),
    }),
  ),
});
type Access = z.output<typeof Access>;

interface FolderGrants {
  owners: readonly string[];
  extra_perms: Permissions;
}

/**
 * Explains who may read, write or manage an item.
 * @throws NotFound, also if the caller may not read the item; BadRequest for an unknown kind
 */
export async function explainAccess(ctx: WorkspaceContext, kind: string, of: string): Promise<Access[]> {
  const { app } = ctx;
  const { workspace_id } = ctx.caller.member;
  if (kind === "group_") throw new BadRequest("a group has members and managers, not grants: see groups/get");
  const given = await getAcl(ctx, kind, of);
  // Rights in a folder also apply to the items in it.
  const [path, grants] = kind === "folder" ? [`f/${of}/`, {}] : [of, given];
  const folder = path.startsWith("f/") ? await findFolder(ctx, path.split("/")[1]!) : undefined;
  const members = await listWorkspaceMembers(app, workspace_id);
  return members.flatMap((member) => {
    const right = rightOf(member, path, grants);
    if (member.disabled || !right) return [];
    const { username, operator } = member;
    return [{ username, right, operator, reasons: [...reasonsOf(member, path, grants, folder)] }];
  });
}

async function findFolder(ctx: WorkspaceContext, name: string): Promise<FolderGrants | undefined> {
  const { workspace_id } = ctx.caller.member;
  const [found] = await ctx.app.db.read
    .select({ owners: folders.owners, extra_perms: folders.extra_perms })
    .from(folders)
    .where(and(eq(folders.workspace_id, workspace_id), eq(folders.name, name)));
  return found;
}

function rightOf(member: Member, path: string, grants: Permissions): Right | undefined {
  if (canManage(member, path)) return "owner";
  if (canWrite(member, path, grants)) return "write";
  return canRead(member, path, grants) ? "read" : undefined;
}

function* reasonsOf(
  member: Member,
  path: string,
  grants: Permissions,
  folder: FolderGrants | undefined,
): Generator<Access["reasons"][number]> {
  const [kind, name = ""] = path.split("/");
  if (member.is_admin) yield { by: "admin", right: "owner" };
  if (kind === "u" && name === member.username) yield { by: "path", right: "owner" };
  if (kind === "g" && [...listGrantees(member)].includes(`g/${name}`)) {
    yield { by: "path", right: "owner", grantee: `g/${name}` };
  }
  const right = kind === "f" ? member.folders.get(name) : undefined;
  if (right) {
    const grantee = [...listGrantees(member)].find((each) => grantedBy(folder, each) === right);
    yield { by: "folder", right, ...(grantee === undefined ? {} : { grantee }) };
  }
  for (const grantee of listGrantees(member)) {
    if (grantee in grants) yield { by: "item", right: grants[grantee] ? "write" : "read", grantee };
  }
}

function grantedBy(folder: FolderGrants | undefined, grantee: string): Right | undefined {
  if (folder?.owners.includes(grantee)) return "owner";
  const grant = folder?.extra_perms[grantee];
  return grant === undefined ? undefined : grant ? "write" : "read";
}
