/** Who comes into a workspace: added at once, or invited. */
import { and, asc, eq } from "drizzle-orm";
import type { Reader, Tx } from "../../../../database/database.ts";
import { BadRequest, NotFound } from "../../../../lib/errors.ts";
import { checkEmail, checkNewEmail, checkUsername } from "../../../../lib/text/paths.ts";
import type { App, WorkspaceContext } from "../../../../platform/app/context.ts";
import { recordInstanceEvent } from "../../../signals/webhooks/instance-events.ts";
import { forgetMembers } from "../../../tenancy/people/members.ts";
import { users } from "../../../tenancy/people/user-tables.ts";
import { workspaceInvites, workspaceMembers, workspaceSettings } from "../../../tenancy/workspaces/tables.ts";
import { chooseUsername } from "../usernames.ts";
import { mailInvite } from "./invite-mail.ts";

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
  const email = checkNewEmail(body.email);
  checkRole(body);
  await ctx.write({ resource: email, parameters: roleOf(body) }, async (tx) => {
    await lockPeople(tx, workspace_id);
    await refuseMember(tx, workspace_id, email);
    const [known] = await tx.select().from(workspaceInvites).where(invitesOf(workspace_id, email));
    if (known) throw new BadRequest(`${email} is invited to workspace ${workspace_id} already`);
    await insertInvite(ctx, tx, { ...body, email });
  });
  mailInvite(ctx.app, { email, workspace_id, by: ctx.caller.identity.email });
  return email;
}

async function insertInvite({ app, caller }: WorkspaceContext, tx: Tx, invite: Invite): Promise<void> {
  const { workspace_id } = caller.member;
  const { email, is_admin, operator } = invite;
  const row = { workspace_id, email, is_admin, operator, created_at: app.clock() };
  await tx.insert(workspaceInvites).values(row);
  await recordInstanceEvent(app, tx, { type: "UserInvitedWorkspace", workspace: workspace_id, email });
}

const INVITES = { operation: "users.invite", action_kind: "Create" } as const;

/** Invites somebody whom a client adds: it may do so again and again, and the last role counts. */
async function inviteAgain(ctx: WorkspaceContext, invite: Invite): Promise<void> {
  const { workspace_id } = ctx.caller.member;
  const { email, is_admin, operator } = invite;
  const isNew = await ctx.write({ resource: email, parameters: roleOf(invite), as: INVITES }, async (tx) => {
    await lockPeople(tx, workspace_id);
    await refuseMember(tx, workspace_id, email);
    const known = await tx
      .update(workspaceInvites)
      .set({ is_admin, operator })
      .where(invitesOf(workspace_id, email))
      .returning({ email: workspaceInvites.email });
    if (known.length === 0) await insertInvite(ctx, tx, invite);
    return known.length === 0;
  });
  if (isNew) mailInvite(ctx.app, { email, workspace_id, by: ctx.caller.identity.email });
}

/** Whether the workspace takes the people of the address's domain without asking them. */
async function joinsByDomain(db: Reader, workspace_id: string, email: string): Promise<boolean> {
  const [row] = await db
    .select({ domain: workspaceSettings.auto_invite_domain, settings: workspaceSettings.settings })
    .from(workspaceSettings)
    .where(eq(workspaceSettings.workspace_id, workspace_id));
  const domain = email.slice(email.lastIndexOf("@") + 1);
  return Boolean(row?.settings.auto_add && (row.domain === "*" || row.domain === domain));
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
 * Makes somebody a member at once, or invites them: people with an account join by their consent, unless a super admin
 * decides for them, or they are of the domain whose people join by themselves. Who has no account yet is a member when
 * there is one; nobody runs as them before they have come.
 * @returns the username; undefined when they are invited
 * @throws BadRequest for a bad address, a member, or a name that is taken
 */
export async function addUser(
  ctx: WorkspaceContext,
  body: Invite & { username: string | undefined },
): Promise<string | undefined> {
  const { app, caller } = ctx;
  const { workspace_id } = caller.member;
  const email = checkNewEmail(body.email);
  checkRole(body);
  if (body.username) checkUsername(body.username);
  const { super_admin } = caller.identity;
  const [account] = await app.db.read
    .select({ super_admin: users.super_admin })
    .from(users)
    .where(eq(users.email, email));
  if (
    account &&
    !super_admin &&
    (account.super_admin || !(await joinsByDomain(app.db.read, workspace_id, email)))
  ) {
    await inviteAgain(ctx, { ...body, email });
    return undefined;
  }
  const unasked = !account && !super_admin;
  const username = await ctx.write({ resource: email, parameters: roleOf(body) }, async (tx) => {
    await lockPeople(tx, workspace_id);
    await refuseMember(tx, workspace_id, email);
    const username = await insertMember(ctx.app, tx, workspace_id, { ...body, email, unasked });
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
  {
    email,
    is_admin,
    operator,
    username,
    unasked,
  }: Invite & { username?: string | undefined; unasked?: boolean },
): Promise<string> {
  const name = await chooseUsername(tx, workspace_id, email, username);
  await tx.insert(workspaceMembers).values({
    workspace_id,
    email,
    username: name,
    is_admin,
    operator,
    unasked: unasked ?? false,
    created_at: app.clock(),
  });
  await tx.delete(workspaceInvites).where(invitesOf(workspace_id, email));
  tx.afterCommit(() => forgetMembers(app));
  return name;
}
