/** Invites from the invited user's point of view: listing, accepting and declining them. */
import { and, asc, eq } from "drizzle-orm";
import { BadRequest, NotFound } from "../../../lib/errors.ts";
import type { App, UserContext } from "../../../platform/app/context.ts";
import { recordInstanceEvent } from "../../signals/webhooks/instance-events.ts";
import { invalidateMembers } from "../../tenancy/people/members.ts";
import { workspaceInvites, workspaceMembers, workspaces } from "../../tenancy/workspaces/tables.ts";
import { chooseUsername, requireUnusedUsername } from "./usernames.ts";

const whereInvite = (workspace_id: string, email: string) =>
  and(eq(workspaceInvites.workspace_id, workspace_id), eq(workspaceInvites.email, email));

/** Lists the workspaces a person is invited to, without archived ones. */
export function listInvites(app: App, email: string) {
  return app.db.read
    .select({
      workspace_id: workspaceInvites.workspace_id,
      email: workspaceInvites.email,
      is_admin: workspaceInvites.is_admin,
      operator: workspaceInvites.operator,
    })
    .from(workspaceInvites)
    .innerJoin(workspaces, eq(workspaces.id, workspaceInvites.workspace_id))
    .where(and(eq(workspaceInvites.email, email), eq(workspaces.archived, false)))
    .orderBy(asc(workspaceInvites.workspace_id));
}

/**
 * Makes the caller a member with the role of the invite.
 * @throws NotFound without an invite, BadRequest for an archived workspace or an unavailable username
 */
export async function acceptInvite(
  ctx: UserContext,
  { workspace_id, username: wanted }: { workspace_id: string; username?: string | undefined },
): Promise<string> {
  const { app } = ctx;
  const { email } = ctx.caller.identity;
  return ctx.write({ resource: workspace_id, parameters: { email } }, async (tx) => {
    await tx.lock(`people of workspace ${workspace_id}`);
    const [found] = await tx
      .select({ invite: workspaceInvites, archived: workspaces.archived })
      .from(workspaceInvites)
      .innerJoin(workspaces, eq(workspaces.id, workspaceInvites.workspace_id))
      .where(whereInvite(workspace_id, email));
    if (!found) throw new NotFound(`invite of ${email} to workspace ${workspace_id}`);
    if (found.archived) throw new BadRequest(`workspace ${workspace_id} is archived`);
    await tx.delete(workspaceInvites).where(whereInvite(workspace_id, email));
    const { is_admin, operator } = found.invite;
    const [member] = await tx
      .select({ username: workspaceMembers.username })
      .from(workspaceMembers)
      .where(and(eq(workspaceMembers.workspace_id, workspace_id), eq(workspaceMembers.email, email)));
    // An admin added them in the meantime; that role takes precedence.
    if (member) return member.username;
    const username = await chooseUsername(tx, workspace_id, email, wanted, { tellWho: false });
    if (wanted) await requireUnusedUsername(app, tx, workspace_id, email, username);
    const row = { workspace_id, email, username, is_admin, operator, created_at: app.clock() };
    await tx.insert(workspaceMembers).values(row);
    const told = { workspace: workspace_id, email, username };
    await recordInstanceEvent(app, tx, { type: "UserJoinedWorkspace", ...told });
    tx.afterCommit(() => invalidateMembers(app));
    return username;
  });
}

/** Deletes the caller's invite to a workspace. @throws NotFound without an invite */
export async function declineInvite(ctx: UserContext, workspace_id: string): Promise<void> {
  const { email } = ctx.caller.identity;
  await ctx.write({ resource: workspace_id, parameters: { email } }, async (tx) => {
    const gone = await tx
      .delete(workspaceInvites)
      .where(whereInvite(workspace_id, email))
      .returning({ email: workspaceInvites.email });
    if (gone.length === 0) throw new NotFound(`invite of ${email} to workspace ${workspace_id}`);
  });
}
