/**
 * Grants to users and groups. A grantee is written `u/<user>` or `g/<group>`. Its grants are renamed or revoked with it:
 * a later owner of the same name must not inherit them.
 */
import { and, eq, type SQL, sql } from "drizzle-orm";
import { containsText } from "../../../database/conditions.ts";
import type { Reader, Tx } from "../../../database/database.ts";
import { divideByKey, type Part } from "../../../database/slices.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { SERVER_GROUPS } from "../../../lib/text/server-groups.ts";
import { EVERYONE_GROUP, type Permissions } from "../../../platform/access/permissions.ts";
import type { App } from "../../../platform/app/context.ts";
import type { ItemKind } from "../../../platform/app/item-kind.ts";
import { folders } from "../people/folder-tables.ts";
import { groups, instanceGroups } from "../people/group-tables.ts";
import { invalidateMembers } from "../people/members.ts";
import { workspaceMembers } from "../workspaces/tables.ts";
import { listItemKinds, listItemsGranting, storeAcl } from "./item-kinds.ts";

const GRANTEE_PATTERN = /^(u\/[a-zA-Z]\w*|g\/[\w-]+)$/;

/** Validates the name of a grantee. @param field of the body that holds it @throws BadRequest for a malformed name */
export function parseGrantee(field: string, name: string): string {
  if (name.length <= 60 && GRANTEE_PATTERN.test(name)) return name;
  throw new BadRequest(
    `body field \`${field}\`: "${name.slice(0, 60)}" is neither a user nor a group: write u/<username> or g/<group>`,
  );
}

const MAX_NAME_LENGTH = 255;

/**
 * Validates an owner or grantee in an imported folder. Unknown forms are stored as they are and grant nothing: only
 * names of users and groups do.
 * @throws BadRequest for an empty or too long text, and for control characters
 */
export function parseForeignGrantee(field: string, name: string): string {
  if (name !== "" && name.length <= MAX_NAME_LENGTH && !/\p{C}/u.test(name)) return name;
  throw new BadRequest(
    `body field \`${field}\`: a name must have 1 to ${MAX_NAME_LENGTH} characters and no control characters: write u/<username> or g/<group>`,
  );
}

/**
 * Checks that the user or group of a grant exists.
 * @throws BadRequest if no user or group of the workspace has the name
 */
export async function requireGrantee(
  db: Reader,
  workspace_id: string,
  field: string,
  name: string,
): Promise<void> {
  parseGrantee(field, name);
  const short = name.slice(2);
  const isUser = name.startsWith("u/");
  // Jobs of the server run as these groups, so they may hold grants even without a row. Only admins create them.
  if (!isUser && SERVER_GROUPS.includes(short)) return;
  if (isUser ? await hasUser(db, workspace_id, short) : await hasGroup(db, workspace_id, short)) return;
  const what = isUser ? "user" : "group";
  throw new BadRequest(`body field \`${field}\`: there is no ${what} ${short} in workspace ${workspace_id}`);
}

/** Returns the parameters of a grant's audit row: the grantee and the new right. */
export function createAuditParameters(
  kind: string,
  owner: string,
  write: boolean | undefined,
): Record<string, string> {
  return { kind, owner, ...(write === undefined ? {} : { write: String(write) }) };
}

/**
 * Returns the grants with one added or changed or, if `write` is undefined, with the grantee's removed.
 * @param of owner of the grants, such as `folder plans`
 * @throws BadRequest if no user or group has the name, or there is no grant to revoke
 */
export async function withGrant(
  db: Reader,
  { workspace_id, of, entries }: { workspace_id: string; of: string; entries: Permissions },
  owner: string,
  write: boolean | undefined,
): Promise<Permissions> {
  if (write !== undefined) {
    await requireGrantee(db, workspace_id, "owner", owner);
    return { ...entries, [owner]: write };
  }
  const { [owner]: before, ...others } = entries;
  if (before === undefined) throw new BadRequest(`body field \`owner\`: ${owner} has no grant of ${of}`);
  return others;
}

async function hasUser(db: Reader, workspace_id: string, username: string): Promise<boolean> {
  const rows = await db
    .select({ username: workspaceMembers.username })
    .from(workspaceMembers)
    .where(and(eq(workspaceMembers.workspace_id, workspace_id), eq(workspaceMembers.username, username)));
  return rows.length > 0;
}

/** Whether the workspace or the instance has a group of this name. */
export async function hasGroup(db: Reader, workspace_id: string, name: string): Promise<boolean> {
  if (name === EVERYONE_GROUP) return true;
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

/** Whether any item, folder or group has a grant to the grantee. */
export async function hasGrants(
  app: App,
  db: Reader,
  workspace_id: string,
  grantee: string,
): Promise<boolean> {
  for (const kind of listItemKinds(app).values()) {
    if ((await listItemsGranting(db, kind, workspace_id, grantee)).length > 0) return true;
  }
  return (
    (await foldersGranting(db, workspace_id, grantee)).length > 0 ||
    (await groupsGranting(db, workspace_id, grantee)).length > 0
  );
}

async function foldersGranting(db: Reader, workspace_id: string, name: string) {
  const rows = await db
    .select()
    .from(folders)
    .where(
      and(eq(folders.workspace_id, workspace_id), containsText(folders.extra_perms, JSON.stringify(name))),
    );
  return rows.filter(({ extra_perms }) => name in extra_perms);
}

async function groupsGranting(db: Reader, workspace_id: string, name: string) {
  const rows = await db
    .select()
    .from(groups)
    .where(
      and(eq(groups.workspace_id, workspace_id), containsText(groups.extra_perms, JSON.stringify(name))),
    );
  return rows.filter(({ extra_perms }) => name in extra_perms);
}

/** Revokes all grants to a grantee. */
export async function revokeGrants(app: App, tx: Tx, workspace_id: string, grantee: string): Promise<void> {
  const replaced: Replaced = { workspace_id, from: grantee, to: undefined };
  for (const kind of listItemKinds(app).values()) await replaceInItems(app, tx, kind, replaced);
  await replaceInFolders(app, tx, replaced);
}

/** Transfers all grants from one grantee to another, in parts. */
export async function* renameGrantee(
  app: App,
  db: Reader,
  replaced: { workspace_id: string; from: string; to: string },
): AsyncGenerator<Part> {
  for (const kind of listItemKinds(app).values()) {
    const own = sql`${eq(kind.table.workspace_id, replaced.workspace_id)}`;
    const work = (tx: Tx, slice: SQL) => replaceInItems(app, tx, kind, replaced, slice);
    yield* divideByKey(db, kind.table.path, own, work);
  }
  yield { run: (tx) => replaceInFolders(app, tx, replaced), continues: false };
}

interface Replaced {
  workspace_id: string;
  from: string;
  to: string | undefined;
}

async function replaceInItems(
  app: App,
  tx: Tx,
  kind: ItemKind,
  { workspace_id, from, to }: Replaced,
  slice?: SQL,
): Promise<void> {
  for (const { path, extra_perms } of await listItemsGranting(tx, kind, workspace_id, from, slice)) {
    await storeAcl(app, tx, { kind, workspace_id, path }, replaceInGrants(extra_perms, from, to));
  }
}

/** Replaces a grantee in the acls of folders and groups, of which there are few. */
async function replaceInFolders(app: App, tx: Tx, { workspace_id, from, to }: Replaced): Promise<void> {
  for (const { name, owners, extra_perms } of await foldersGranting(tx, workspace_id, from)) {
    const others = owners.filter((owner) => owner !== from);
    const isOwner = others.length < owners.length;
    await tx
      .update(folders)
      .set({
        owners: isOwner && to !== undefined ? [...others, to] : others,
        extra_perms: replaceInGrants(extra_perms, from, to),
      })
      .where(and(eq(folders.workspace_id, workspace_id), eq(folders.name, name)));
  }
  for (const { name, extra_perms } of await groupsGranting(tx, workspace_id, from)) {
    await tx
      .update(groups)
      .set({ extra_perms: replaceInGrants(extra_perms, from, to) })
      .where(and(eq(groups.workspace_id, workspace_id), eq(groups.name, name)));
  }
  tx.afterCommit(() => invalidateMembers(app, workspace_id));
}

function replaceInGrants(entries: Permissions, from: string, to: string | undefined): Permissions {
  const { [from]: entry = false, ...others } = entries;
  return to === undefined ? others : { ...others, [to]: entry || others[to] === true };
}
