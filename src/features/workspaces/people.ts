/** Who belongs to a workspace: added at once, invited, gone again. */
import { and, asc, eq } from "drizzle-orm";
import type { App, WorkspaceContext } from "../../context.ts";
import type { Reader, Tx } from "../../database/database.ts";
import { BadRequest, NotFound } from "../../errors.ts";
import { checkEmail, checkUsername, usernameFromEmail } from "../../lib/paths.ts";
import { forgetTokens } from "../tokens/cache.ts";
import { tokens } from "../tokens/tables.ts";
import { users } from "../users/tables.ts";
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
  return ctx.write({ resource: email, parameters: roleOf(body) }, async (tx) => {
    await lockPeople(tx, workspace_id);
    await refuseMember(tx, workspace_id, email);
    const username = await insertMember(ctx.app, tx, workspace_id, { ...body, email });
    await recordInstanceEvent(ctx.app, tx, { type: "UserAddedWorkspace", workspace: workspace_id, email });
    return username;
  });
}

/**
 * Adds somebody who is no member yet, and ends their invite.
 * @returns the name they have in the workspace: the one that is asked for, or one made of what is known of them
 * @throws BadRequest when the name is taken
 */
export async function insertMember(
  app: App,
  tx: Tx,
  workspace_id: string,
  { email, is_admin, operator, username }: Invite & { username: string | undefined },
): Promise<string> {
  const taken = new Map(
    (
      await tx
        .select({ username: workspaceMembers.username, email: workspaceMembers.email })
        .from(workspaceMembers)
        .where(eq(workspaceMembers.workspace_id, workspace_id))
    ).map((row) => [row.username, row.email]),
  );
  const name = username ? checkUsername(username) : freeName(await knownName(tx, email), taken);
  const holder = taken.get(name);
  if (holder !== undefined) {
    throw new BadRequest(
      `body field \`username\`: ${name} is the name of ${holder} in workspace ${workspace_id}`,
    );
  }
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

async function knownName(tx: Tx, email: string): Promise<string> {
  const [user] = await tx.select({ username: users.username }).from(users).where(eq(users.email, email));
  return user?.username || usernameFromEmail(email);
}

/** `ann`, or where that is somebody's `ann2`, `ann3` … */
function freeName(wanted: string, taken: ReadonlyMap<string, string>): string {
  if (!taken.has(wanted)) return wanted;
  const stem = wanted.slice(0, 45);
  for (let number = 2; ; number++) if (!taken.has(`${stem}${number}`)) return `${stem}${number}`;
}

/**
 * The caller leaves. What stands under their name stays, and their tokens for this workspace go.
 * @throws BadRequest for the last admin, and for who is no member
 */
export async function leaveWorkspace(ctx: WorkspaceContext): Promise<void> {
  const { app } = ctx;
  const { workspace_id, email } = ctx.caller.member;
  await ctx.write({ resource: email }, async (tx) => {
    await lockPeople(tx, workspace_id);
    const member = await findMember(tx, workspace_id, email);
    if (!member) throw new BadRequest(`${email} is no member of workspace ${workspace_id}`);
    if (member.is_admin) await refuseLastAdmin(tx, workspace_id, email);
    await tx
      .delete(workspaceMembers)
      .where(and(eq(workspaceMembers.workspace_id, workspace_id), eq(workspaceMembers.email, email)));
    const bound = await tx
      .delete(tokens)
      .where(and(eq(tokens.workspace_id, workspace_id), eq(tokens.email, email)))
      .returning({ hash: tokens.hash });
    tx.afterCommit(() => {
      forgetMembers(app);
      forgetTokens(
        app,
        bound.map(({ hash }) => hash),
      );
    });
  });
}

async function refuseLastAdmin(tx: Tx, workspace_id: string, email: string): Promise<void> {
  const admins = await tx
    .select({ email: workspaceMembers.email })
    .from(workspaceMembers)
    .where(
      and(
        eq(workspaceMembers.workspace_id, workspace_id),
        eq(workspaceMembers.is_admin, true),
        eq(workspaceMembers.disabled, false),
      ),
    );
  if (admins.some((admin) => admin.email !== email)) return;
  throw new BadRequest(`${email} is the last admin of workspace ${workspace_id}`, {
    hint: "make somebody else an admin first, or archive the workspace",
  });
}
