/** The people of one workspace. */
import { and, asc, eq } from "drizzle-orm";
import type { Reader } from "../../../database/database.ts";
import { BadRequest, NotFound } from "../../../lib/errors.ts";
import { rightsOf } from "../../../platform/access/permissions.ts";
import type { App, Member, WorkspaceContext } from "../../../platform/app/context.ts";
import { retireChildren } from "../../../platform/cluster/processes.ts";
import { forgetMembers, listMembers as membersOf, resolveMember } from "../../tenancy/people/members.ts";
import { users } from "../../tenancy/people/user-tables.ts";
import { workspaceMembers } from "../../tenancy/workspaces/tables.ts";
import { requireOtherAdmin } from "./last-admin.ts";
import { auditDetails, removeMember, revokeAccess } from "./removal.ts";

const DISABLED = "its owner was disabled in the workspace";

/** A member as the wire has one. */
export function toUser({ unasked: _, ...member }: Member, is_super_admin: boolean) {
  return { ...member, is_super_admin, ...rightsOf(member) };
}

type Row = typeof workspaceMembers.$inferSelect;

/** @throws NotFound */
export async function findByUsername(db: Reader, workspace_id: string, username: string): Promise<Row> {
  const [row] = await db
    .select()
    .from(workspaceMembers)
    .where(and(eq(workspaceMembers.workspace_id, workspace_id), eq(workspaceMembers.username, username)));
  if (!row) throw new NotFound(`user ${username} in workspace ${workspace_id}`);
  return row;
}

/** One member with their groups. @throws NotFound */
export async function getMember(app: App, workspace_id: string, username: string) {
  const { email } = await findByUsername(app.db.read, workspace_id, username);
  const [account] = await app.db.read
    .select({ super_admin: users.super_admin })
    .from(users)
    .where(eq(users.email, email));
  // As what the workspace makes them, whatever they are on the instance.
  const identity = { email, super_admin: false, devops: false, token: undefined };
  const member = await resolveMember(app, identity, workspace_id);
  if (!member) throw new NotFound(`user ${username} in workspace ${workspace_id}`);
  return toUser(member, account?.super_admin ?? false);
}

/** All members by name, those without an account included. */
export async function listMembers(app: App, workspace_id: string) {
  const above = await app.db.read
    .select({ email: users.email })
    .from(workspaceMembers)
    .innerJoin(users, eq(users.email, workspaceMembers.email))
    .where(and(eq(workspaceMembers.workspace_id, workspace_id), eq(users.super_admin, true)));
  const emails = new Set(above.map(({ email }) => email));
  const all = await membersOf(app, workspace_id);
  return all.map((member) => toUser(member, emails.has(member.email)));
}

export async function listUsernames(app: App, workspace_id: string): Promise<string[]> {
  const rows = await app.db.read
    .select({ username: workspaceMembers.username })
    .from(workspaceMembers)
    .where(eq(workspaceMembers.workspace_id, workspace_id))
    .orderBy(asc(workspaceMembers.username));
  return rows.map(({ username }) => username);
}

export interface MemberChange {
  is_admin?: boolean | undefined;
  operator?: boolean | undefined;
  disabled?: boolean | undefined;
}

/**
 * Changes what a member may do, at once. Runs of somebody who is disabled are canceled; their tokens stay, and answer
 * again when they are enabled.
 * @throws NotFound, BadRequest for an admin who would be an operator, or the last admin
 */
export async function updateMember(
  ctx: WorkspaceContext,
  username: string,
  change: MemberChange,
): Promise<void> {
  const { app } = ctx;
  const { workspace_id } = ctx.caller.member;
  const given = Object.entries(change).filter(([, value]) => value !== undefined);
  if (given.length === 0) {
    throw new BadRequest("nothing to change: give `is_admin`, `operator` or `disabled`");
  }
  const parameters = Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
  const work = await ctx.write({ resource: username, parameters }, async (tx) => {
    const row = await findByUsername(tx, workspace_id, username);
    const next = changed(row, change);
    if (!next.is_admin || next.disabled) await requireOtherAdmin(tx, workspace_id, row.email);
    await tx
      .update(workspaceMembers)
      .set(next)
      .where(and(eq(workspaceMembers.workspace_id, workspace_id), eq(workspaceMembers.email, row.email)));
    tx.afterCommit(() => {
      forgetMembers(app);
      if (next.disabled) retireChildren(app, { workspace_id, email: row.email });
    });
    return next.disabled ? revokeAccess(app, tx, row, { by: ctx.username, reason: DISABLED }) : undefined;
  });
  await work?.finish(ctx);
}

function changed(row: Row, change: MemberChange): Required<MemberChange> {
  const is_admin = change.is_admin ?? row.is_admin;
  // Who becomes an admin is no operator any more, without its being said.
  const operator = change.operator ?? (row.operator && !is_admin);
  if (is_admin && operator) {
    throw new BadRequest(
      `${row.username} cannot be an admin and an operator, who runs and views only: set one of \`is_admin\` and \`operator\` to false`,
    );
  }
  return { is_admin, operator, disabled: change.disabled ?? row.disabled };
}

/**
 * Takes a member out, or lets the caller leave; removal.ts says what becomes of what they own.
 * @throws NotFound, BadRequest for the last admin
 */
export async function deleteMember(ctx: WorkspaceContext, username: string): Promise<void> {
  const { workspace_id } = ctx.caller.member;
  const removal = await ctx.app.db.write(async (tx) => {
    const row = await findByUsername(tx, workspace_id, username);
    const removal = await removeMember(ctx.app, tx, row, ctx.username);
    await ctx.audit(tx, { resource: username, parameters: auditDetails(removal) });
    return removal;
  });
  await removal.finish(ctx);
}
