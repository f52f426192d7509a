import { and, asc, desc, eq, sql } from "drizzle-orm";
import type { Reader } from "../../../database/database.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { LOCAL_ADMIN } from "../../tenancy/people/local-admin.ts";
import { users } from "../../tenancy/people/user-tables.ts";
import { workspaceMembers, workspaces } from "../../tenancy/workspaces/tables.ts";

/**
 * Returns the email of the user that a trigger runs as: the caller. The local admin is not a user, so it is replaced by
 * the workspace's owner, or else its first admin, if there is one.
 */
export async function resolveOwnerEmail({ caller }: WorkspaceContext, db: Reader): Promise<string> {
  const { identity, member } = caller;
  if (identity.token !== undefined || identity.email !== LOCAL_ADMIN.email) return identity.email;
  const [admin] = await db
    .select({ email: workspaceMembers.email })
    .from(workspaceMembers)
    .innerJoin(workspaces, eq(workspaces.id, workspaceMembers.workspace_id))
    .innerJoin(users, eq(users.email, workspaceMembers.email))
    .where(
      and(
        eq(workspaceMembers.workspace_id, member.workspace_id),
        eq(workspaceMembers.is_admin, true),
        eq(workspaceMembers.disabled, false),
      ),
    )
    .orderBy(
      desc(sql`CASE WHEN ${workspaces.owner} = ${workspaceMembers.email} THEN 1 ELSE 0 END`),
      asc(workspaceMembers.created_at),
      asc(workspaceMembers.email),
    )
    .limit(1);
  return admin?.email ?? identity.email;
}
