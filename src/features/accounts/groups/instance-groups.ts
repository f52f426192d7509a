/** Groups of the instance, managed by super admins and external user directories. */
import { and, asc, eq } from "drizzle-orm";
import type { Reader, Tx } from "../../../database/database.ts";
import { BadRequest, NotFound } from "../../../lib/errors.ts";
import { parseEmail, parseFolderOrGroupName } from "../../../lib/text/paths.ts";
import { EVERYONE_GROUP } from "../../../platform/access/permissions.ts";
import type { App, UserContext } from "../../../platform/app/context.ts";
import {
  type InstanceGroupRow,
  instanceGroupMembers,
  instanceGroups,
} from "../../tenancy/people/group-tables.ts";
import { invalidateMembers } from "../../tenancy/people/members.ts";
import { users } from "../../tenancy/people/user-tables.ts";

export type GroupWithEmails = InstanceGroupRow & { emails: string[] };

const INSTANCE_GROUPS_LOCK = "instance groups";

/** Lists all groups by name, with their members. */
export async function listInstanceGroups(db: Reader): Promise<GroupWithEmails[]> {
  const groups = await db.select().from(instanceGroups).orderBy(asc(instanceGroups.name));
  const members = await db.select().from(instanceGroupMembers).orderBy(asc(instanceGroupMembers.email));
  const byName = new Map<string, string[]>(groups.map(({ name }) => [name, []]));
  for (const { name, email } of members) byName.get(name)?.push(email);
  return groups.map((group) => ({ ...group, emails: byName.get(group.name) ?? [] }));
}

/** Returns a group of the instance with the e-mail addresses of its members. @throws NotFound */
export async function getInstanceGroup(db: Reader, name: string): Promise<GroupWithEmails> {
  const [group] = await db.select().from(instanceGroups).where(eq(instanceGroups.name, name));
  if (!group) throw new NotFound(`group ${name} of the instance`);
  const members = await db
    .select({ email: instanceGroupMembers.email })
    .from(instanceGroupMembers)
    .where(eq(instanceGroupMembers.name, name))
    .orderBy(asc(instanceGroupMembers.email));
  return { ...group, emails: members.map(({ email }) => email) };
}

/** Validates the name of a group of the instance. @throws BadRequest */
function parseInstanceGroupName(name: string): string {
  if (name === EVERYONE_GROUP)
    throw new BadRequest(`"${EVERYONE_GROUP}" is the group of everybody in a workspace`);
  return parseFolderOrGroupName("group", name);
}

/** Creates a group of the instance. @throws BadRequest for an invalid or used name */
export async function createInstanceGroup(
  ctx: UserContext,
  body: { name: string; summary?: string | undefined },
): Promise<void> {
  const name = parseInstanceGroupName(body.name);
  await ctx.write({ resource: name }, async (tx) => {
    await tx.lock(INSTANCE_GROUPS_LOCK);
    const [taken] = await tx.select().from(instanceGroups).where(eq(instanceGroups.name, name));
    if (taken) throw new BadRequest(`there is a group ${name} of the instance already`);
    await tx.insert(instanceGroups).values({ name, summary: body.summary ?? "" });
  });
}

/** Changes the summary of a group of the instance. @throws NotFound */
export async function updateInstanceGroup(
  ctx: UserContext,
  name: string,
  summary: string | undefined,
): Promise<void> {
  await ctx.write({ resource: name }, async (tx) => {
    const group = await getInstanceGroup(tx, name);
    await tx
      .update(instanceGroups)
      .set({ summary: summary ?? group.summary })
      .where(eq(instanceGroups.name, name));
  });
}

/**
 * Deletes a group. Its members lose what was granted to its name, but the grants stay. Only an admin can create a
 * workspace group of that name, so nobody else takes them over.
 * @throws NotFound
 */
export async function deleteInstanceGroup(ctx: UserContext, name: string): Promise<void> {
  await ctx.write({ resource: name }, async (tx) => {
    await tx.lock(INSTANCE_GROUPS_LOCK);
    await getInstanceGroup(tx, name);
    await tx.delete(instanceGroupMembers).where(eq(instanceGroupMembers.name, name));
    await tx.delete(instanceGroups).where(eq(instanceGroups.name, name));
    invalidateAllMembers(ctx.app, tx);
  });
}

/** Adds a user to a group of the instance. @throws NotFound for an unknown group or user */
export async function addUserToInstanceGroup(ctx: UserContext, name: string, address: string): Promise<void> {
  const email = parseEmail(address);
  await ctx.write({ resource: name, parameters: { email } }, async (tx) => {
    await tx.lock(INSTANCE_GROUPS_LOCK);
    await getInstanceGroup(tx, name);
    const [user] = await tx.select({ email: users.email }).from(users).where(eq(users.email, email));
    if (!user) throw new NotFound(`user ${email}`);
    await tx.insert(instanceGroupMembers).values({ name, email }).onConflictDoNothing();
    invalidateAllMembers(ctx.app, tx);
  });
}

/** Removes a user from a group of the instance. @throws NotFound for an unknown group, or a user who is not in it */
export async function removeUserFromInstanceGroup(
  ctx: UserContext,
  name: string,
  address: string,
): Promise<void> {
  const email = parseEmail(address);
  await ctx.write({ resource: name, parameters: { email } }, async (tx) => {
    await tx.lock(INSTANCE_GROUPS_LOCK);
    const { emails } = await getInstanceGroup(tx, name);
    if (!emails.includes(email)) throw new NotFound(`user ${email} in group ${name} of the instance`);
    await tx
      .delete(instanceGroupMembers)
      .where(and(eq(instanceGroupMembers.name, name), eq(instanceGroupMembers.email, email)));
    invalidateAllMembers(ctx.app, tx);
  });
}

/** Replaces all groups of the instance. @throws BadRequest for an invalid or duplicate name */
export async function overwriteInstanceGroups(
  ctx: UserContext,
  given: readonly (Partial<GroupWithEmails> & { name: string })[],
): Promise<void> {
  const names = given.map(({ name }) => parseInstanceGroupName(name));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new BadRequest(`group ${twice} is in the list twice`);
  const members = given.map(({ emails = [] }) => [...new Set(emails.map(parseEmail))]);
  await ctx.write({ parameters: { groups: String(given.length) } }, async (tx) => {
    await tx.lock(INSTANCE_GROUPS_LOCK);
    await tx.delete(instanceGroupMembers);
    await tx.delete(instanceGroups);
    for (const [index, { name, summary = "", id, scim_display_name, external_id }] of given.entries()) {
      await tx.insert(instanceGroups).values({ name, summary, id, scim_display_name, external_id });
      for (const email of members[index]!) await tx.insert(instanceGroupMembers).values({ name, email });
    }
    invalidateAllMembers(ctx.app, tx);
  });
}

function invalidateAllMembers(app: App, tx: Tx): void {
  tx.afterCommit(() => invalidateMembers(app));
}
