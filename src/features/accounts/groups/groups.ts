/** Groups of a workspace: who is in them, and who manages them. */
import { and, asc, eq } from "drizzle-orm";
import type { Reader, Tx } from "../../../database/database.ts";
import { BadRequest, Forbidden, NotFound } from "../../../lib/errors.ts";
import { checkPlaceName } from "../../../lib/text/paths.ts";
import { EVERYBODY, entryFor, isInGroup } from "../../../platform/access/permissions.ts";
import type { App, WorkspaceContext } from "../../../platform/app/context.ts";
import { type Group, groupMembers, groups, instanceGroups } from "../../tenancy/people/group-tables.ts";
import { forgetMembers } from "../../tenancy/people/members.ts";
import { SERVER_GROUPS } from "../../tenancy/people/server-groups.ts";
import {
  auditParameters,
  groupExists,
  hasGrants,
  revokeGrants,
  withGrant,
} from "../../tenancy/rights/grants.ts";
import { hasItemsBelow } from "../../tenancy/rights/item-kinds.ts";
import { workspaceMembers } from "../../tenancy/workspaces/tables.ts";

const at = (workspace_id: string, name: string) =>
  and(eq(groups.workspace_id, workspace_id), eq(groups.name, name));

const inGroup = (workspace_id: string, name: string) =>
  and(eq(groupMembers.workspace_id, workspace_id), eq(groupMembers.name, name));

const everybody = (workspace_id: string): Group => ({
  workspace_id,
  name: EVERYBODY,
  summary: "everybody in the workspace",
  extra_perms: {},
});

/** @throws NotFound */
export async function getGroup(
  ctx: WorkspaceContext,
  name: string,
  db: Reader = ctx.app.db.read,
): Promise<Group> {
  const { workspace_id } = ctx.caller.member;
  const [row] = await db.select().from(groups).where(at(workspace_id, name));
  if (row) return row;
  if (name === EVERYBODY) return everybody(workspace_id);
  throw new NotFound(`group ${name} in workspace ${workspace_id}`);
}

/** All groups: whoever gives rights to one must know it. */
export async function listGroups(ctx: WorkspaceContext): Promise<Group[]> {
  const { workspace_id } = ctx.caller.member;
  const rows = await ctx.app.db.read.select().from(groups).where(eq(groups.workspace_id, workspace_id));
  const all = rows.some(({ name }) => name === EVERYBODY) ? rows : [everybody(workspace_id), ...rows];
  return all.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** The names that rights can be given to: groups of the workspace, and of the instance. */
export async function listNames(
  ctx: WorkspaceContext,
  { only_member_of }: { only_member_of: boolean },
): Promise<string[]> {
  const { member } = ctx.caller;
  const own = await listGroups(ctx);
  const ofInstance = await ctx.app.db.read.select({ name: instanceGroups.name }).from(instanceGroups);
  const names = new Set([...own, ...ofInstance].map(({ name }) => name));
  return [...names].filter((name) => !only_member_of || isInGroup(member, name)).sort();
}

/** The usernames of who is in a group. */
export async function membersOf(ctx: WorkspaceContext, name: string): Promise<string[]> {
  const { workspace_id } = ctx.caller.member;
  const people = ctx.app.db.read
    .select({ username: workspaceMembers.username })
    .from(workspaceMembers)
    .orderBy(asc(workspaceMembers.username));
  const inWorkspace = eq(workspaceMembers.workspace_id, workspace_id);
  const rows =
    name === EVERYBODY
      ? await people.where(inWorkspace)
      : await people
          .innerJoin(
            groupMembers,
            and(inGroup(workspace_id, name), eq(groupMembers.email, workspaceMembers.email)),
          )
          .where(inWorkspace);
  return rows.map(({ username }) => username);
}

/** Whether the caller may say who is in the group and who manages it. */
function manages({ caller: { member } }: WorkspaceContext, group: Group): boolean {
  return member.is_admin || (!member.operator && entryFor(member, group.extra_perms) === true);
}

function requireManager(ctx: WorkspaceContext, group: Group): void {
  if (manages(ctx, group)) return;
  throw new Forbidden(`${ctx.username} does not manage group ${group.name}`);
}

/**
 * Makes a group that the caller is in and manages.
 * @throws BadRequest for a bad or taken name; Forbidden where the name has rights already
 */
export async function createGroup(
  ctx: WorkspaceContext,
  body: { name: string; summary?: string | undefined },
): Promise<void> {
  const { member } = ctx.caller;
  const { workspace_id } = member;
  const name = checkPlaceName("group", body.name);
  await ctx.write({ resource: name }, async (tx) => {
    await lock(tx, workspace_id, name);
    if (await groupExists(tx, workspace_id, name)) throw new BadRequest(`there is a group ${name} already`);
    if (!member.is_admin && SERVER_GROUPS.includes(name)) {
      throw new Forbidden(`jobs that the server starts run as g/${name}: an admin has to make the group`);
    }
    if (!member.is_admin && (await hasRights(ctx.app, tx, workspace_id, name))) {
      throw new Forbidden(
        `something is g/${name}'s from before, which would be yours: an admin has to make the group`,
      );
    }
    // A super admin who is no member is in no group.
    const isMember = member.username !== member.email;
    const extra_perms = isMember ? { [`u/${member.username}`]: true } : {};
    await tx.insert(groups).values({ workspace_id, name, summary: body.summary ?? "", extra_perms });
    if (isMember) await tx.insert(groupMembers).values({ workspace_id, name, email: member.email });
    tx.afterCommit(() => forgetMembers(ctx.app, workspace_id));
  });
}

async function hasRights(app: App, db: Reader, workspace_id: string, name: string): Promise<boolean> {
  const place = `g/${name}`;
  return (await hasItemsBelow(app, db, workspace_id, place)) || hasGrants(app, db, workspace_id, place);
}

/** @throws NotFound, Forbidden */
export async function updateGroup(
  ctx: WorkspaceContext,
  name: string,
  { summary }: { summary?: string | undefined },
): Promise<void> {
  await change(ctx, name, {}, (group) => ({ summary: summary ?? group.summary }));
}

/**
 * Makes somebody a manager, or takes an entry away.
 * @throws NotFound, Forbidden, BadRequest for somebody unknown or without an entry
 */
export async function setEntry(
  ctx: WorkspaceContext,
  name: string,
  owner: string,
  manager: boolean | undefined,
): Promise<void> {
  await change(ctx, name, auditParameters("group_", owner, manager), async (group, tx) => {
    const { workspace_id, extra_perms: entries } = group;
    return {
      extra_perms: await withGrant(tx, { workspace_id, of: `group ${name}`, entries }, owner, manager),
    };
  });
}

async function change(
  ctx: WorkspaceContext,
  name: string,
  parameters: Record<string, string>,
  to: (group: Group, tx: Tx) => Partial<Group> | Promise<Partial<Group>>,
): Promise<void> {
  await ctx.write({ resource: name, parameters }, async (tx) => {
    const { workspace_id } = ctx.caller.member;
    await lock(tx, workspace_id, name);
    const group = await getGroup(ctx, name, tx);
    requireManager(ctx, group);
    const row = { ...group, ...(await to(group, tx)) };
    await tx
      .insert(groups)
      .values(row)
      .onConflictDoUpdate({ target: [groups.workspace_id, groups.name], set: row });
  });
}

/** What was given to the group goes with it. @throws NotFound, Forbidden, BadRequest for the group of everybody */
export async function deleteGroup(ctx: WorkspaceContext, name: string): Promise<void> {
  refuseEverybody(name, "cannot be deleted");
  await ctx.write({ resource: name }, async (tx) => {
    const { workspace_id } = ctx.caller.member;
    await lock(tx, workspace_id, name);
    requireManager(ctx, await getGroup(ctx, name, tx));
    await tx.delete(groups).where(at(workspace_id, name));
    await tx.delete(groupMembers).where(inGroup(workspace_id, name));
    await revokeGrants(ctx.app, tx, workspace_id, `g/${name}`);
  });
}

/** @throws NotFound for an unknown group or user, Forbidden, BadRequest for the group of everybody */
export async function addUser(ctx: WorkspaceContext, name: string, username: string): Promise<void> {
  await changeMembers(ctx, name, username, async (tx, member) => {
    await tx.insert(groupMembers).values(member).onConflictDoNothing();
  });
}

/** @throws NotFound also for who is not in it, Forbidden, BadRequest for the group of everybody */
export async function removeUser(ctx: WorkspaceContext, name: string, username: string): Promise<void> {
  await changeMembers(ctx, name, username, async (tx, { workspace_id, email }) => {
    const removed = await tx
      .delete(groupMembers)
      .where(and(inGroup(workspace_id, name), eq(groupMembers.email, email)))
      .returning({ email: groupMembers.email });
    if (removed.length === 0) throw new NotFound(`user ${username} in group ${name}`);
  });
}

async function changeMembers(
  ctx: WorkspaceContext,
  name: string,
  username: string,
  work: (tx: Tx, member: typeof groupMembers.$inferInsert) => Promise<void>,
): Promise<void> {
  refuseEverybody(name, "has everybody in it");
  await ctx.write({ resource: name, parameters: { username } }, async (tx) => {
    const { workspace_id } = ctx.caller.member;
    await lock(tx, workspace_id, name);
    requireManager(ctx, await getGroup(ctx, name, tx));
    await work(tx, { workspace_id, name, email: await emailOf(tx, workspace_id, username) });
    tx.afterCommit(() => forgetMembers(ctx.app, workspace_id));
  });
}

async function emailOf(db: Reader, workspace_id: string, username: string): Promise<string> {
  const [row] = await db
    .select({ email: workspaceMembers.email })
    .from(workspaceMembers)
    .where(and(eq(workspaceMembers.workspace_id, workspace_id), eq(workspaceMembers.username, username)));
  if (!row) throw new NotFound(`user ${username} in workspace ${workspace_id}`);
  return row.email;
}

function refuseEverybody(name: string, why: string): void {
  if (name === EVERYBODY) throw new BadRequest(`group ${EVERYBODY} ${why}`);
}

function lock(tx: Tx, workspace_id: string, name: string): Promise<void> {
  return tx.lock(`group ${workspace_id} ${name}`);
}
