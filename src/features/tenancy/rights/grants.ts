/**
 * Names that rights are given to, `u/<user>` and `g/<group>`: whether somebody has one, where one is mentioned, and what
 * happens to what it was given when it changes or goes away. Who is called so later must not come into its rights.
 */
import { and, eq } from "drizzle-orm";
import { containsText } from "../../../database/conditions.ts";
import type { Reader, Tx } from "../../../database/database.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { EVERYBODY, type Permissions } from "../../../platform/access/permissions.ts";
import type { App } from "../../../platform/app/context.ts";
import { favorites } from "../../code/favorites/tables.ts";
import { inputs } from "../../runs/api/inputs/tables.ts";
import { folders } from "../people/folder-tables.ts";
import { groupMembers, groups, instanceGroups } from "../people/group-tables.ts";
import { forgetMembers } from "../people/members.ts";
import { SERVER_GROUPS } from "../people/server-groups.ts";
import { workspaceMembers } from "../workspaces/tables.ts";
import { itemsNaming, KINDS, storeEntries } from "./item-kinds.ts";

const NAME = /^(u\/[a-zA-Z]\w*|g\/[\w-]+)$/;

/** @param field of the body that holds it @throws BadRequest when rights cannot be given to it */
export function checkName(field: string, name: string): string {
  if (name.length <= 60 && NAME.test(name)) return name;
  throw new BadRequest(
    `body field \`${field}\`: "${name.slice(0, 60)}" is neither a user nor a group: write u/<username> or g/<group>`,
  );
}

const MAX_MENTION = 255;

/**
 * What a folder that comes from elsewhere says of owners and rights is kept as it is said: only a user's or a group's name
 * gives rights to anybody.
 * @throws BadRequest for an empty or endless text, and one with control characters
 */
export function checkMention(field: string, name: string): string {
  if (name !== "" && name.length <= MAX_MENTION && !/\p{C}/u.test(name)) return name;
  throw new BadRequest(
    `body field \`${field}\`: a name must have 1 to ${MAX_MENTION} characters and no control characters: write u/<username> or g/<group>`,
  );
}

/** @throws BadRequest when nobody in the workspace has the name */
export async function requireKnown(
  db: Reader,
  workspace_id: string,
  field: string,
  name: string,
): Promise<void> {
  checkName(field, name);
  const short = name.slice(2);
  const isUser = name.startsWith("u/");
  // What the server runs as these needs rights whether or not somebody is in them; only admins make them.
  if (!isUser && SERVER_GROUPS.includes(short)) return;
  if (isUser ? await userExists(db, workspace_id, short) : await groupExists(db, workspace_id, short)) return;
  const what = isUser ? "user" : "group";
  throw new BadRequest(`body field \`${field}\`: there is no ${what} ${short} in workspace ${workspace_id}`);
}

/** What the audit row of an entry says: whose it is, and what it became. */
export function toldOf(kind: string, owner: string, write: boolean | undefined): Record<string, string> {
  return { kind, owner, ...(write === undefined ? {} : { write: String(write) }) };
}

/**
 * The entries with what somebody may do, or, with undefined, without them.
 * @param of what they are, such as `folder plans`
 * @throws BadRequest when nobody has the name, or there is no entry to take away
 */
export async function withEntry(
  db: Reader,
  { workspace_id, of, entries }: { workspace_id: string; of: string; entries: Permissions },
  owner: string,
  write: boolean | undefined,
): Promise<Permissions> {
  if (write !== undefined) {
    await requireKnown(db, workspace_id, "owner", owner);
    return { ...entries, [owner]: write };
  }
  const { [owner]: before, ...others } = entries;
  if (before === undefined) throw new BadRequest(`body field \`owner\`: ${owner} has no entry of ${of}`);
  return others;
}

async function userExists(db: Reader, workspace_id: string, username: string): Promise<boolean> {
  const rows = await db
    .select({ username: workspaceMembers.username })
    .from(workspaceMembers)
    .where(and(eq(workspaceMembers.workspace_id, workspace_id), eq(workspaceMembers.username, username)));
  return rows.length > 0;
}

/** Whether there is a group of the name, in the workspace or on the instance. */
export async function groupExists(db: Reader, workspace_id: string, name: string): Promise<boolean> {
  if (name === EVERYBODY) return true;
  const own = await db
    .select({ name: groups.name })
    .from(groups)
    .where(and(eq(groups.workspace_id, workspace_id), eq(groups.name, name)));
  if (own.length > 0) return true;
  const ofInstance = await db
    .select({ name: instanceGroups.name })
    .from(instanceGroups)
    .where(eq(instanceGroups.name, name));
  return ofInstance.length > 0;
}

/** Whether something says of the name what it may do. */
export async function isMentioned(db: Reader, workspace_id: string, name: string): Promise<boolean> {
  for (const kind of Object.values(KINDS)) {
    if ((await itemsNaming(db, kind, workspace_id, name)).length > 0) return true;
  }
  return (
    (await foldersNaming(db, workspace_id, name)).length > 0 ||
    (await groupsNaming(db, workspace_id, name)).length > 0
  );
}

async function foldersNaming(db: Reader, workspace_id: string, name: string) {
  const rows = await db
    .select()
    .from(folders)
    .where(
      and(eq(folders.workspace_id, workspace_id), containsText(folders.extra_perms, JSON.stringify(name))),
    );
  return rows.filter(({ extra_perms }) => name in extra_perms);
}

async function groupsNaming(db: Reader, workspace_id: string, name: string) {
  const rows = await db
    .select()
    .from(groups)
    .where(
      and(eq(groups.workspace_id, workspace_id), containsText(groups.extra_perms, JSON.stringify(name))),
    );
  return rows.filter(({ extra_perms }) => name in extra_perms);
}

/** Takes a name out of all rights that were given to it. */
export function dropName(app: App, tx: Tx, workspace_id: string, name: string): Promise<void> {
  return replaceName(app, tx, workspace_id, name, undefined);
}

/** Gives all rights of one name to another. */
export function renameName(app: App, tx: Tx, workspace_id: string, from: string, to: string): Promise<void> {
  return replaceName(app, tx, workspace_id, from, to);
}

async function replaceName(
  app: App,
  tx: Tx,
  workspace_id: string,
  from: string,
  to: string | undefined,
): Promise<void> {
  for (const kind of Object.values(KINDS)) {
    for (const { path, extra_perms } of await itemsNaming(tx, kind, workspace_id, from)) {
      await storeEntries(app, tx, { kind, workspace_id, path }, replaced(extra_perms, from, to));
    }
  }
  for (const { name, owners, extra_perms } of await foldersNaming(tx, workspace_id, from)) {
    const others = owners.filter((owner) => owner !== from);
    const isOwner = others.length < owners.length;
    await tx
      .update(folders)
      .set({
        owners: isOwner && to !== undefined ? [...others, to] : others,
        extra_perms: replaced(extra_perms, from, to),
      })
      .where(and(eq(folders.workspace_id, workspace_id), eq(folders.name, name)));
  }
  for (const { name, extra_perms } of await groupsNaming(tx, workspace_id, from)) {
    await tx
      .update(groups)
      .set({ extra_perms: replaced(extra_perms, from, to) })
      .where(and(eq(groups.workspace_id, workspace_id), eq(groups.name, name)));
  }
  tx.afterCommit(() => forgetMembers(app, workspace_id));
}

function replaced(entries: Permissions, from: string, to: string | undefined): Permissions {
  const { [from]: entry = false, ...others } = entries;
  return to === undefined ? others : { ...others, [to]: entry || others[to] === true };
}

/** What a person leaves behind in a workspace of groups, rights, stars and arguments kept for themselves. */
export async function forgetPerson(
  app: App,
  tx: Tx,
  { workspace_id, email, username }: { workspace_id: string; email: string; username: string },
): Promise<void> {
  for (const table of [groupMembers, favorites]) {
    await tx.delete(table).where(and(eq(table.workspace_id, workspace_id), eq(table.email, email)));
  }
  await tx
    .delete(inputs)
    .where(and(eq(inputs.workspace_id, workspace_id), eq(inputs.email, email), eq(inputs.is_public, false)));
  await dropName(app, tx, workspace_id, `u/${username}`);
}
