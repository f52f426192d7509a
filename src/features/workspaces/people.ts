/** Who comes into a workspace: added at once, or invited. */
import { and, asc, eq } from "drizzle-orm";
import type { App, WorkspaceContext } from "../../context.ts";
import type { Reader, Tx } from "../../database/database.ts";
import { BadRequest, NotFound } from "../../errors.ts";
import { checkEmail } from "../../lib/paths.ts";
import { mailInvite } from "../mail/invite.ts";
import { chooseUsername } from "../users/usernames.ts";
import { recordInstanceEvent } from "../webhooks/instance-events.ts";
import { forgetMembers } from "./members.ts";
import { workspaceInvites, workspaceMembers } from "./tables.ts";

export interface Invite {
  email: string;
  is_admin: boolean;
  operator: boolean;
}

/** @throws BadRequest for what cannot be: operators run and view, admins may everything */
function checkRole({ is_admin, operator }: Invite): void {
  if (is_admin && operator) {
    throw new BadRequest("body fields `is_admin` and `operator`: nobody is both, so one must be false");
  }
}

export async function findMember(db: Reader, workspace_id: string, email: string) {
  const [row] = await db
    .select()
    .from(workspaceMembers)
    .where(and(eq(workspaceMembers.workspace_id, workspace_id), eq(workspaceMembers.email, email)));
  return row;
}

async function refuseMember(tx: Tx, workspace_id: string, email: string): Promise<void> {
  const member = await findMember(tx, workspace_id, email);
  if (!member) return;
  throw new BadRequest(`${email} is a member of workspace ${workspace_id} already, as ${member.username}`);
}

const invitesOf = (workspace_id: string, email: string) =>
  and(eq(workspaceInvites.workspace_id, workspace_id), eq(workspaceInvites.email, email));

/** @throws BadRequest for a bad address, a member, or somebody who is invited already */
export async function inviteUser(ctx: WorkspaceContext, body: Invite): Promise<string> {
  const { workspace_id } = ctx.caller.member;
  const email = checkEmail(body.email);
  checkRole(body);
  await ctx.write({ resource: email, parameters: roleOf(body) }, async (tx) => {
    await lockPeople(tx, workspace_id);
    await refuseMember(tx, workspace_id, email);
    const [known] = await tx.select().from(workspaceInvites).where(invitesOf(workspace_id, email));
    if (known) throw new BadRequest(`${email} is invited to workspace ${workspace_id} already`);
    await tx.insert(workspaceInvites).values({
      workspace_id,
      email,
      is_admin: body.is_admin,
      operator: body.operator,
      created_at: ctx.app.clock(),
    });
    await recordInstanceEvent(ctx.app, tx, { type: "UserInvitedWorkspace", workspace: workspace_id, email });
  });
  mailInvite(ctx.app, { email, workspace_id, by: ctx.caller.identity.email });
  return email;
}

function roleOf({ is_admin, operator }: Invite): Record<string, string> {
  return { role: is_admin ? "admin" : operator ? "operator" : "developer" };
}

/** Names and places are given out one after the other. */
export function lockPeople(tx: Tx, workspace_id: string): Promise<void> {
  return tx.lock(`people of workspace ${workspace_id}`);
}

/** @throws NotFound when nobody with this address is invited */
export async function deleteInvite(ctx: WorkspaceContext, given: string): Promise<string> {
  const { workspace_id } = ctx.caller.member;
  const email = checkEmail(given);
  await ctx.write({ resource: email }, async (tx) => {
    const gone = await tx
      .delete(workspaceInvites)
      .where(invitesOf(workspace_id, email))
      .returning({ email: workspaceInvites.email });
    if (gone.length === 0) throw new NotFound(`invite of ${email} to workspace ${workspace_id}`);
  });
  return email;
}

export function pendingInvites(ctx: WorkspaceContext) {
  const { workspace_id } = ctx.caller.member;
  return ctx.app.db.read
    .select({
      workspace_id: workspaceInvites.workspace_id,
      email: workspaceInvites.email,
      is_admin: workspaceInvites.is_admin,
      operator: workspaceInvites.operator,
    })
    .from(workspaceInvites)
    .where(eq(workspaceInvites.workspace_id, workspace_id))
    .orderBy(asc(workspaceInvites.email));
}

/**
 * Makes somebody a member at once. There need not be an account yet: it is theirs when it is made.
 * @throws BadRequest for a bad address, a member, or a name that is taken
 */
export async function addUser(
  ctx: WorkspaceContext,
  body: Invite & { username: string | undefined },
): Promise<string> {
  const { workspace_id } = ctx.caller.member;
  const email = checkEmail(body.email);
  checkRole(body);
  const username = await ctx.write({ resource: email, parameters: roleOf(body) }, async (tx) => {
    await lockPeople(tx, workspace_id);
    await refuseMember(tx, workspace_id, email);
    const username = await insertMember(ctx.app, tx, workspace_id, { ...body, email });
    await recordInstanceEvent(ctx.app, tx, { type: "UserAddedWorkspace", workspace: workspace_id, email });
    return username;
  });
  mailInvite(ctx.app, { email, workspace_id, by: ctx.caller.identity.email, username });
  return username;
}

/**
 * Adds somebody who is no member yet, and ends their invite.
 * @returns the name they have in the workspace: the one that is asked for, or one made of what is known of them
 * @throws BadRequest when the name is somebody else's, or was
 */
export async function insertMember(
  app: App,
  tx: Tx,
  workspace_id: string,
  { email, is_admin, operator, username }: Invite & { username: string | undefined },
): Promise<string> {
  const name = await chooseUsername(tx, workspace_id, email, username);
  await tx.insert(workspaceMembers).values({
    workspace_id,
    email,
    username: name,
    is_admin,
    operator,
    created_at: app.clock(),
  });
  await tx.delete(workspaceInvites).where(invitesOf(workspace_id, email));
  tx.afterCommit(() => forgetMembers(app));
  return name;
}
