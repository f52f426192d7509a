/** Reads, changes and removes members of a workspace. */
import { and, asc, eq } from "drizzle-orm";
import type { Reader } from "../../../database/database.ts";
import { BadRequest, NotFound } from "../../../lib/errors.ts";
import { describeRights } from "../../../platform/access/permissions.ts";
import type { App, Member, WorkspaceContext } from "../../../platform/app/context.ts";
import { retireProcesses } from "../../../platform/cluster/processes.ts";
import {
  invalidateMembers,
  listWorkspaceMembers as membersOf,
  resolveMember,
} from "../../tenancy/people/members.ts";
import { users } from "../../tenancy/people/user-tables.ts";
import { workspaceMembers } from "../../tenancy/workspaces/tables.ts";
import { requireAnyAdmin } from "./last-admin.ts";
import { createAuditDetails, removeMember, revokeAccess } from "./removal.ts";

const DISABLED_REASON = "its owner was disabled in the workspace";

/** Converts a member to its record in the HTTP interface. */
export function toUserRecord({ unasked: _, ...member }: Member, is_super_admin: boolean) {
  return { ...member, is_super_admin, ...describeRights(member) };
}

type Row = typeof workspaceMembers.$inferSelect;

/** Returns a member of a workspace. @throws NotFound */
export async function getMemberByUsername(db: Reader, workspace_id: string, username: string): Promise<Row> {
  const [row] = await db
    .select()
    .from(workspaceMembers)
    .where(and(eq(workspaceMembers.workspace_id, workspace_id), eq(workspaceMembers.username, username)));
  if (!row) throw new NotFound(`user ${username} in workspace ${workspace_id}`);
  return row;
}

/** Returns a member with their groups. @throws NotFound */
export async function getMember(app: App, workspace_id: string, username: string) {
  const { email } = await getMemberByUsername(app.db.read, workspace_id, username);
  const [account] = await app.db.read
    .select({ super_admin: users.super_admin })
    .from(users)
    .where(eq(users.email, email));
  // Shows the rights the workspace gives, regardless of super admin rights.
  const identity = { email, super_admin: false, devops: false, token: undefined };
  const member = await resolveMember(app, identity, workspace_id);
  if (!member) throw new NotFound(`user ${username} in workspace ${workspace_id}`);
  return toUserRecord(member, account?.super_admin ?? false);
}

/** Lists all members by username, including those without an account. */
export async function listMembers(app: App, workspace_id: string) {
  const above = await app.db.read
    .select({ email: users.email })
    .from(workspaceMembers)
    .innerJoin(users, eq(users.email, workspaceMembers.email))
    .where(and(eq(workspaceMembers.workspace_id, workspace_id), eq(users.super_admin, true)));
  const emails = new Set(above.map(({ email }) => email));
  const all = await membersOf(app, workspace_id);
  return all.map((member) => toUserRecord(member, emails.has(member.email)));
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
 * Changes a member's role, effective at once. Jobs of a disabled member are canceled; their tokens stay and work again
 * once they are enabled.
 * @throws NotFound, BadRequest for an admin who would be an operator, or the last admin, unless they are a super admin
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
    const row = await getMemberByUsername(tx, workspace_id, username);
    const next = applyMemberChange(row, change);
    if (!next.is_admin || next.disabled) await requireAnyAdmin(tx, workspace_id, row.email);
    await tx
      .update(workspaceMembers)
      .set(next)
      .where(and(eq(workspaceMembers.workspace_id, workspace_id), eq(workspaceMembers.email, row.email)));
    tx.afterCommit(() => {
      invalidateMembers(app);
      if (next.disabled) retireProcesses(app, { workspace_id, email: row.email });
    });
    return next.disabled
      ? revokeAccess(app, tx, row, { by: ctx.username, reason: DISABLED_REASON })
      : undefined;
  });
  await work?.finish(ctx);
}

function applyMemberChange(row: Row, change: MemberChange): Required<MemberChange> {
  const is_admin = change.is_admin ?? row.is_admin;
  // A new admin stops being an operator implicitly.
  const operator = change.operator ?? (row.operator && !is_admin);
  if (is_admin && operator) {
    throw new BadRequest(
      `${row.username} cannot be an admin and an operator, who runs and views only: set one of \`is_admin\` and \`operator\` to false`,
    );
  }
  return { is_admin, operator, disabled: change.disabled ?? row.disabled };
}

/**
 * Removes a member, or lets the caller leave; removal.ts defines what happens to the items they own.
 * @throws NotFound, BadRequest for the last admin, unless they are a super admin
 */
export async function deleteMember(ctx: WorkspaceContext, username: string): Promise<void> {
  const { workspace_id } = ctx.caller.member;
  const removal = await ctx.app.db.write(async (tx) => {
    const row = await getMemberByUsername(tx, workspace_id, username);
    await requireAnyAdmin(tx, workspace_id, row.email);
    const removal = await removeMember(ctx.app, tx, row, ctx.username);
    await ctx.audit(tx, { resource: username, parameters: createAuditDetails(removal) });
    return removal;
  });
  await removal.finish(ctx);
}
