import { and, eq } from "drizzle-orm";
import type { UserContext } from "../../../platform/app/context.ts";
import { workspaceMembers, workspaces } from "../workspaces/tables.ts";

/** Lists the caller's workspaces that are not archived, with the caller's username in each. */
export function listOwnWorkspaces(ctx: UserContext) {
  return ctx.app.db.read
    .select({
      id: workspaces.id,
      name: workspaces.name,
      owner: workspaces.owner,
      username: workspaceMembers.username,
    })
    .from(workspaceMembers)
    .innerJoin(workspaces, eq(workspaces.id, workspaceMembers.workspace_id))
    .where(and(eq(workspaceMembers.email, ctx.caller.identity.email), eq(workspaces.archived, false)))
    .orderBy(workspaces.id);
}
