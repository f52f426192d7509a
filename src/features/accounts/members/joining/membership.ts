/** Adds people to a workspace, or invites them. */
import { and, asc, eq } from "drizzle-orm";
import type { Reader, Tx } from "../../../../database/database.ts";
import { BadRequest, NotFound } from "../../../../lib/errors.ts";
import { parseEmail, parseNewEmail, parseUsername } from "../../../../lib/text/paths.ts";
import type { App, WorkspaceContext } from "../../../../platform/app/context.ts";
import { recordInstanceEvent } from "../../../signals/webhooks/instance-events.ts";
import { invalidateMembers } from "../../../tenancy/people/members.ts";
import { users } from "../../../tenancy/people/user-tables.ts";
import { workspaceInvites, workspaceMembers, workspaceSettings } from "../../../tenancy/workspaces/tables.ts";
import { chooseUsername } from "../usernames.ts";
import { mailInvite } from "./invite-mail.ts";

export interface Invite {
  email: string;
  is_admin: boolean;
  operator: boolean;
}

/**
 * Rejects contradictory roles.
 * @throws BadRequest for an admin who is also an operator: operators run and view only, admins may do everything
 */
function requireValidRole({ is_admin, operator }: Invite): void {
  if (is_admin && operator) {
    throw new BadRequest(
      "body fields `is_admin` and `operator`: they exclude each other, so one must be false",
    );
  }
}

export async function findMemberRow(db: Reader, workspace_id: string, email: string) {
  const [row] = await db
    .select()
    .from(workspaceMembers)
    .where(and(eq(workspaceMembers.workspace_id, workspace_id), eq(workspaceMembers.email, email)));
  return row;
}

async function requireNoMember(tx: Tx, workspace_id: string, email: string): Promise<void> {
  const member = await findMemberRow(tx, workspace_id, email);
  if (!member) return;
  throw new BadRequest(`${email} is a member of workspace ${workspace_id} already, as ${member.username}`);
}

const whereInvite = (workspace_id: string, email: string) =>
  and(eq(workspaceInvites.workspace_id, workspace_id), eq(workspaceInvites.email, email));

/**
 * Invites somebody to the workspace by their e-mail address.
 * @throws BadRequest for an invalid address, a member, or somebody already invited
 */
export async function inviteUser(ctx: WorkspaceContext, body: Invite): Promise<string> {
  const { workspace_id } = ctx.caller.member;
  const email = parseNewEmail(body.email);
  requireValidRole(body);
  await ctx.write({ resource: email, parameters: roleParameters(body) }, async (tx) => {
    await lockMembership(tx, workspace_id);
    await requireNoMember(tx, workspace_id, email);
    const [known] = await tx.select().from(workspaceInvites).where(whereInvite(workspace_id, email));
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

const INVITE_AUDIT = { operation: "users.invite", action_kind: "Create" } as const;

/** Invites somebody a client tries to add. Repeated calls are allowed; the last role is kept. */
async function upsertInvite(ctx: WorkspaceContext, invite: Invite): Promise<void> {
  const { workspace_id } = ctx.caller.member;
  const { email, is_admin, operator } = invite;
  const isNew = await ctx.write(
    { resource: email, parameters: roleParameters(invite), action: INVITE_AUDIT },
    async (tx) => {
      await lockMembership(tx, workspace_id);
      await requireNoMember(tx, workspace_id, email);
      const known = await tx
        .update(workspaceInvites)
        .set({ is_admin, operator })
        .where(whereInvite(workspace_id, email))
        .returning({ email: workspaceInvites.email });
      if (known.length === 0) await insertInvite(ctx, tx, invite);
      return known.length === 0;
    },
  );
  if (isNew) mailInvite(ctx.app, { email, workspace_id, by: ctx.caller.identity.email });
}

/** Returns whether the workspace adds users of this e-mail domain automatically. */
async function acceptsDomain(db: Reader, workspace_id: string, email: string): Promise<boolean> {
  const [row] = await db
    .select({ domain: workspaceSettings.auto_invite_domain, settings: workspaceSettings.settings })
    .from(workspaceSettings)
    .where(eq(workspaceSettings.workspace_id, workspace_id));
  const domain = email.slice(email.lastIndexOf("@") + 1);
  return Boolean(row?.settings.auto_add && (row.domain === "*" || row.domain === domain));
}

function roleParameters({ is_admin, operator }: Invite): Record<string, string> {
  return { role: is_admin ? "admin" : operator ? "operator" : "developer" };
}

/** Serializes changes to a workspace's members and usernames. */
export function lockMembership(tx: Tx, workspace_id: string): Promise<void> {
  return tx.lock(`people of workspace ${workspace_id}`);
}

/** Deletes an invite by its e-mail address. @throws NotFound if there is no invite for this address */
export async function deleteInvite(ctx: WorkspaceContext, given: string): Promise<string> {
  const { workspace_id } = ctx.caller.member;
  const email = parseEmail(given);
  await ctx.write({ resource: email }, async (tx) => {
    const gone = await tx
      .delete(workspaceInvites)
      .where(whereInvite(workspace_id, email))
      .returning({ email: workspaceInvites.email });
    if (gone.length === 0) throw new NotFound(`invite of ${email} to workspace ${workspace_id}`);
  });
  return email;
}

export function listPendingInvites(ctx: WorkspaceContext) {
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
 * Adds somebody as a member, or invites them. People with an account are invited, unless the caller is a super admin or
 * the workspace adds their domain automatically. People without an account become members at once; no job runs as them
 * before their first login.
 * @returns the username; undefined if they were invited
 * @throws BadRequest for an invalid address, a member, or a used username
 */
export async function addUser(
  ctx: WorkspaceContext,
  body: Invite & { username: string | undefined },
): Promise<string | undefined> {
  const { app, caller } = ctx;
  const { workspace_id } = caller.member;
  const email = parseNewEmail(body.email);
  requireValidRole(body);
  if (body.username) parseUsername(body.username);
  const { super_admin } = caller.identity;
  const [account] = await app.db.read
    .select({ super_admin: users.super_admin })
    .from(users)
    .where(eq(users.email, email));
  if (
    account &&
    !super_admin &&
    (account.super_admin || !(await acceptsDomain(app.db.read, workspace_id, email)))
  ) {
    await upsertInvite(ctx, { ...body, email });
    return undefined;
  }
  const unasked = !account && !super_admin;
  const username = await ctx.write({ resource: email, parameters: roleParameters(body) }, async (tx) => {
    await lockMembership(tx, workspace_id);
    await requireNoMember(tx, workspace_id, email);
    const username = await insertMember(ctx.app, tx, workspace_id, { ...body, email, unasked });
    await recordInstanceEvent(ctx.app, tx, { type: "UserAddedWorkspace", workspace: workspace_id, email });
    return username;
  });
  mailInvite(ctx.app, { email, workspace_id, by: ctx.caller.identity.email, username });
  return username;
}

/**
 * Inserts a member and deletes their invite.
 * @returns their username: the given one, or one derived from their account
 * @throws BadRequest if the username is or was somebody else's
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
  await tx.delete(workspaceInvites).where(whereInvite(workspace_id, email));
  tx.afterCommit(() => invalidateMembers(app));
  return name;
}
