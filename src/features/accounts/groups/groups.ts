/** Groups of a workspace: their members and managers. */
import { and, asc, eq } from "drizzle-orm";
import type { Reader, Tx } from "../../../database/database.ts";
import { BadRequest, Forbidden, NotFound } from "../../../lib/errors.ts";
import { parseFolderOrGroupName } from "../../../lib/text/paths.ts";
import { SERVER_GROUPS } from "../../../lib/text/server-groups.ts";
import { EVERYONE_GROUP, findGrant, isInGroup } from "../../../platform/access/permissions.ts";
import type { App, WorkspaceContext } from "../../../platform/app/context.ts";
import { type GroupRow, groupMembers, groups, instanceGroups } from "../../tenancy/people/group-tables.ts";
import { invalidateMembers } from "../../tenancy/people/members.ts";
import {
  createAuditParameters,
  hasGrants,
  hasGroup,
  revokeGrants,
  withGrant,
} from "../../tenancy/rights/grants.ts";
import { isPlaceUsed } from "../../tenancy/rights/item-kinds.ts";
import { workspaceMembers } from "../../tenancy/workspaces/tables.ts";

const whereGroup = (workspace_id: string, name: string) =>
  and(eq(groups.workspace_id, workspace_id), eq(groups.name, name));

const whereGroupMembers = (workspace_id: string, name: string) =>
  and(eq(groupMembers.workspace_id, workspace_id), eq(groupMembers.name, name));

const createEverybodyGroup = (workspace_id: string): GroupRow => ({
  workspace_id,
  name: EVERYONE_GROUP,
  summary: "everybody in the workspace",
  extra_perms: {},
});

/** Returns a group with its members and managers. @throws NotFound */
export async function getGroup(
  ctx: WorkspaceContext,
  name: string,
  db: Reader = ctx.app.db.read,
): Promise<GroupRow> {
  const { workspace_id } = ctx.caller.member;
  const [row] = await db.select().from(groups).where(whereGroup(workspace_id, name));
  if (row) return row;
  if (name === EVERYONE_GROUP) return createEverybodyGroup(workspace_id);
  throw new NotFound(`group ${name} in workspace ${workspace_id}`);
}

/** Lists all groups. Every member may see them, since they can be grantees. */
export async function listGroups(ctx: WorkspaceContext): Promise<GroupRow[]> {
  const { workspace_id } = ctx.caller.member;
  const rows = await ctx.app.db.read.select().from(groups).where(eq(groups.workspace_id, workspace_id));
  const all = rows.some(({ name }) => name === EVERYONE_GROUP)
    ? rows
    : [createEverybodyGroup(workspace_id), ...rows];
  return all.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Lists the names of groups that can be grantees: those of the workspace and of the instance. */
export async function listGrantableGroups(
  ctx: WorkspaceContext,
  { only_member_of }: { only_member_of: boolean },
): Promise<string[]> {
  const { member } = ctx.caller;
  const own = await listGroups(ctx);
  const ofInstance = await ctx.app.db.read.select({ name: instanceGroups.name }).from(instanceGroups);
  const names = new Set([...own, ...ofInstance].map(({ name }) => name));
  return [...names].filter((name) => !only_member_of || isInGroup(member, name)).sort();
}

/** Lists the usernames of a group's members. */
export async function listGroupMembers(ctx: WorkspaceContext, name: string): Promise<string[]> {
  const { workspace_id } = ctx.caller.member;
  const people = ctx.app.db.read
    .select({ username: workspaceMembers.username })
    .from(workspaceMembers)
    .orderBy(asc(workspaceMembers.username));
  const inWorkspace = eq(workspaceMembers.workspace_id, workspace_id);
  const rows =
    name === EVERYONE_GROUP
      ? await people.where(inWorkspace)
      : await people
          .innerJoin(
            groupMembers,
            and(whereGroupMembers(workspace_id, name), eq(groupMembers.email, workspaceMembers.email)),
          )
          .where(inWorkspace);
  return rows.map(({ username }) => username);
}

/** Returns whether the caller may change the group's members and managers. */
function canManage({ caller: { member } }: WorkspaceContext, group: GroupRow): boolean {
  return member.is_admin || (!member.operator && findGrant(member, group.extra_perms) === true);
}

function requireGroupManager(ctx: WorkspaceContext, group: GroupRow): void {
  if (canManage(ctx, group)) return;
  throw new Forbidden(`${ctx.username} does not manage group ${group.name}`);
}

/**
 * Creates a group with the caller as member and manager.
 * @throws BadRequest for an invalid or used name; Forbidden if grants to the name exist already
 */
export async function createGroup(
  ctx: WorkspaceContext,
  body: { name: string; summary?: string | undefined },
): Promise<void> {
  const { member } = ctx.caller;
  const { workspace_id } = member;
  const name = parseFolderOrGroupName("group", body.name);
  await ctx.write({ resource: name }, async (tx) => {
    await lockGroup(tx, workspace_id, name);
    if (await hasGroup(tx, workspace_id, name)) throw new BadRequest(`there is a group ${name} already`);
    if (!member.is_admin && SERVER_GROUPS.includes(name)) {
      throw new Forbidden(`jobs that the server starts run as g/${name}: an admin must create the group`);
    }
    if (!member.is_admin && (await isNameUsed(ctx.app, tx, workspace_id, name))) {
      throw new Forbidden(
        `something is g/${name}'s from before, or a flow asks it for approval: an admin must create the group`,
      );
    }
    // A super admin who is not a member of the workspace cannot be in a group.
    const isMember = member.username !== member.email;
    const extra_perms = isMember ? { [`u/${member.username}`]: true } : {};
    await tx.insert(groups).values({ workspace_id, name, summary: body.summary ?? "", extra_perms });
    if (isMember) await tx.insert(groupMembers).values({ workspace_id, name, email: member.email });
    tx.afterCommit(() => invalidateMembers(ctx.app, workspace_id));
  });
}

async function isNameUsed(app: App, db: Reader, workspace_id: string, name: string): Promise<boolean> {
  const place = `g/${name}`;
  if (await isPlaceUsed(app, db, workspace_id, place)) return true;
  if (await hasGrants(app, db, workspace_id, place)) return true;
  for (const { namesGroup } of app.features) if (await namesGroup?.(db, workspace_id, name)) return true;
  return false;
}

/** Changes the summary of a group. @throws NotFound, Forbidden */
export async function updateGroup(
  ctx: WorkspaceContext,
  name: string,
  { summary }: { summary?: string | undefined },
): Promise<void> {
  await changeGroup(ctx, name, {}, (group) => ({ summary: summary ?? group.summary }));
}

/**
 * Makes a user a manager of the group, or removes their entry.
 * @throws NotFound, Forbidden, BadRequest for an unknown grantee, or one without an entry
 */
export async function setGroupManager(
  ctx: WorkspaceContext,
  name: string,
  owner: string,
  manager: boolean | undefined,
): Promise<void> {
  await changeGroup(ctx, name, createAuditParameters("group_", owner, manager), async (group, tx) => {
    const { workspace_id, extra_perms: entries } = group;
    return {
      extra_perms: await withGrant(tx, { workspace_id, of: `group ${name}`, entries }, owner, manager),
    };
  });
}

async function changeGroup(
  ctx: WorkspaceContext,
  name: string,
  parameters: Record<string, string>,
  to: (group: GroupRow, tx: Tx) => Partial<GroupRow> | Promise<Partial<GroupRow>>,
): Promise<void> {
  await ctx.write({ resource: name, parameters }, async (tx) => {
    const { workspace_id } = ctx.caller.member;
    await lockGroup(tx, workspace_id, name);
    const group = await getGroup(ctx, name, tx);
    requireGroupManager(ctx, group);
    const row = { ...group, ...(await to(group, tx)) };
    await tx
      .insert(groups)
      .values(row)
      .onConflictDoUpdate({ target: [groups.workspace_id, groups.name], set: row });
  });
}

/** Deletes a group and all grants to it. @throws NotFound, Forbidden, BadRequest for the group `all` */
export async function deleteGroup(ctx: WorkspaceContext, name: string): Promise<void> {
  requireOrdinaryGroup(name, "cannot be deleted");
  await ctx.write({ resource: name }, async (tx) => {
    const { workspace_id } = ctx.caller.member;
    await lockGroup(tx, workspace_id, name);
    requireGroupManager(ctx, await getGroup(ctx, name, tx));
    await tx.delete(groups).where(whereGroup(workspace_id, name));
    await tx.delete(groupMembers).where(whereGroupMembers(workspace_id, name));
    await revokeGrants(ctx.app, tx, workspace_id, `g/${name}`);
  });
}

/** Adds a user to a group. @throws NotFound for an unknown group or user, Forbidden, BadRequest for the group `all` */
export async function addGroupMember(ctx: WorkspaceContext, name: string, username: string): Promise<void> {
  await changeGroupMembers(ctx, name, username, async (tx, member) => {
    await tx.insert(groupMembers).values(member).onConflictDoNothing();
  });
}

/**
 * Removes a user from a group.
 * @throws NotFound for an unknown group, or a user who is not in it, Forbidden, BadRequest for the group `all`
 */
export async function removeGroupMember(
  ctx: WorkspaceContext,
  name: string,
  username: string,
): Promise<void> {
  await changeGroupMembers(ctx, name, username, async (tx, { workspace_id, email }) => {
    const removed = await tx
      .delete(groupMembers)
      .where(and(whereGroupMembers(workspace_id, name), eq(groupMembers.email, email)))
      .returning({ email: groupMembers.email });
    if (removed.length === 0) throw new NotFound(`user ${username} in group ${name}`);
  });
}

async function changeGroupMembers(
  ctx: WorkspaceContext,
  name: string,
  username: string,
  work: (tx: Tx, member: typeof groupMembers.$inferInsert) => Promise<void>,
): Promise<void> {
  requireOrdinaryGroup(name, "has everybody in it");
  await ctx.write({ resource: name, parameters: { username } }, async (tx) => {
    const { workspace_id } = ctx.caller.member;
    await lockGroup(tx, workspace_id, name);
    requireGroupManager(ctx, await getGroup(ctx, name, tx));
    await work(tx, { workspace_id, name, email: await getMemberEmail(tx, workspace_id, username) });
    tx.afterCommit(() => invalidateMembers(ctx.app, workspace_id));
  });
}

async function getMemberEmail(db: Reader, workspace_id: string, username: string): Promise<string> {
  const [row] = await db
    .select({ email: workspaceMembers.email })
    .from(workspaceMembers)
    .where(and(eq(workspaceMembers.workspace_id, workspace_id), eq(workspaceMembers.username, username)));
  if (!row) throw new NotFound(`user ${username} in workspace ${workspace_id}`);
  return row.email;
}

function requireOrdinaryGroup(name: string, why: string): void {
  if (name === EVERYONE_GROUP) throw new BadRequest(`group ${EVERYONE_GROUP} ${why}`);
}

function lockGroup(tx: Tx, workspace_id: string, name: string): Promise<void> {
  return tx.lock(`group ${workspace_id} ${name}`);
}
