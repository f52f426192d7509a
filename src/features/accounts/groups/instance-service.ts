/** Groups of the whole instance, as super admins and directories keep them. */
import { and, asc, eq } from "drizzle-orm";
import type { Reader, Tx } from "../../../database/database.ts";
import { BadRequest, NotFound } from "../../../lib/errors.ts";
import { checkEmail, checkPlaceName } from "../../../lib/text/paths.ts";
import { EVERYBODY } from "../../../platform/access/permissions.ts";
import type { App, UserContext } from "../../../platform/app/context.ts";
import {
  type InstanceGroup,
  instanceGroupMembers,
  instanceGroups,
} from "../../tenancy/people/group-tables.ts";
import { forgetMembers } from "../../tenancy/people/members.ts";
import { users } from "../../tenancy/people/user-tables.ts";

export type GroupWithEmails = InstanceGroup & { emails: string[] };

const LOCK = "instance groups";

/** All, by name, with who is in them. */
export async function listGroups(db: Reader): Promise<GroupWithEmails[]> {
  const groups = await db.select().from(instanceGroups).orderBy(asc(instanceGroups.name));
  const members = await db.select().from(instanceGroupMembers).orderBy(asc(instanceGroupMembers.email));
  const byName = new Map<string, string[]>(groups.map(({ name }) => [name, []]));
  for (const { name, email } of members) byName.get(name)?.push(email);
  return groups.map((group) => ({ ...group, emails: byName.get(group.name) ?? [] }));
}

/** @throws NotFound */
export async function getGroup(db: Reader, name: string): Promise<GroupWithEmails> {
  const [group] = await db.select().from(instanceGroups).where(eq(instanceGroups.name, name));
  if (!group) throw new NotFound(`group ${name} of the instance`);
  const members = await db
    .select({ email: instanceGroupMembers.email })
    .from(instanceGroupMembers)
    .where(eq(instanceGroupMembers.name, name))
    .orderBy(asc(instanceGroupMembers.email));
  return { ...group, emails: members.map(({ email }) => email) };
}

/** @throws BadRequest for what cannot name a group of the instance */
function checkName(name: string): string {
  if (name === EVERYBODY) throw new BadRequest(`"${EVERYBODY}" is the group of everybody in a workspace`);
  return checkPlaceName("group", name);
}

/** @throws BadRequest for a bad or taken name */
export async function createGroup(
  ctx: UserContext,
  body: { name: string; summary?: string | undefined },
): Promise<void> {
  const name = checkName(body.name);
  await ctx.write({ resource: name }, async (tx) => {
    await tx.lock(LOCK);
    const [taken] = await tx.select().from(instanceGroups).where(eq(instanceGroups.name, name));
    if (taken) throw new BadRequest(`there is a group ${name} of the instance already`);
    await tx.insert(instanceGroups).values({ name, summary: body.summary ?? "" });
  });
}

/** @throws NotFound */
export async function updateGroup(
  ctx: UserContext,
  name: string,
  summary: string | undefined,
): Promise<void> {
  await ctx.write({ resource: name }, async (tx) => {
    const group = await getGroup(tx, name);
    await tx
      .update(instanceGroups)
      .set({ summary: summary ?? group.summary })
      .where(eq(instanceGroups.name, name));
  });
}

/**
 * Whoever was in it loses what is given to its name. The name keeps it: only an admin can make a group of a workspace
 * that would take it over.
 * @throws NotFound
 */
export async function deleteGroup(ctx: UserContext, name: string): Promise<void> {
  await ctx.write({ resource: name }, async (tx) => {
    await tx.lock(LOCK);
    await getGroup(tx, name);
    await tx.delete(instanceGroupMembers).where(eq(instanceGroupMembers.name, name));
    await tx.delete(instanceGroups).where(eq(instanceGroups.name, name));
    forgetAll(ctx.app, tx);
  });
}

/** @throws NotFound for an unknown group or user */
export async function addUser(ctx: UserContext, name: string, address: string): Promise<void> {
  const email = checkEmail(address);
  await ctx.write({ resource: name, parameters: { email } }, async (tx) => {
    await tx.lock(LOCK);
    await getGroup(tx, name);
    const [user] = await tx.select({ email: users.email }).from(users).where(eq(users.email, email));
    if (!user) throw new NotFound(`user ${email}`);
    await tx.insert(instanceGroupMembers).values({ name, email }).onConflictDoNothing();
    forgetAll(ctx.app, tx);
  });
}

/** @throws NotFound for an unknown group, or who is not in it */
export async function removeUser(ctx: UserContext, name: string, address: string): Promise<void> {
  const email = checkEmail(address);
  await ctx.write({ resource: name, parameters: { email } }, async (tx) => {
    await tx.lock(LOCK);
    const { emails } = await getGroup(tx, name);
    if (!emails.includes(email)) throw new NotFound(`user ${email} in group ${name} of the instance`);
    await tx
      .delete(instanceGroupMembers)
      .where(and(eq(instanceGroupMembers.name, name), eq(instanceGroupMembers.email, email)));
    forgetAll(ctx.app, tx);
  });
}

/** Puts these groups in the place of all there are. @throws BadRequest for a bad or repeated name */
export async function overwriteGroups(
  ctx: UserContext,
  given: readonly (Partial<GroupWithEmails> & { name: string })[],
): Promise<void> {
  const names = given.map(({ name }) => checkName(name));
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice !== undefined) throw new BadRequest(`group ${twice} is in the list twice`);
  const members = given.map(({ emails = [] }) => [...new Set(emails.map(checkEmail))]);
  await ctx.write({ parameters: { groups: String(given.length) } }, async (tx) => {
    await tx.lock(LOCK);
    await tx.delete(instanceGroupMembers);
    await tx.delete(instanceGroups);
    for (const [index, { name, summary = "", id, scim_display_name, external_id }] of given.entries()) {
      await tx.insert(instanceGroups).values({ name, summary, id, scim_display_name, external_id });
      for (const email of members[index]!) await tx.insert(instanceGroupMembers).values({ name, email });
    }
    forgetAll(ctx.app, tx);
  });
}

function forgetAll(app: App, tx: Tx): void {
  tx.afterCommit(() => forgetMembers(app));
}
