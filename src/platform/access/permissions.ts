/**
 * Permission rules: the one module that decides who may read and write an item. It runs no query: a member carries its
 * groups and folder rights (`tenancy/people/members.ts`), an item its path and its acl.
 *
 * - `u/ann/…` belongs to ann, `g/ops/…` to the members of the group, `f/data/…` to the owners of the folder.
 * - A folder's acl grants reading (false) or writing (true) of everything in the folder; an item's acl, of that item.
 * - Grants add up: no grant takes away another. Admins have all rights; operators may write nothing.
 *
 * Members are cached until one of their rights changes. `readableBy` expresses the same rule in SQL, for lists. A
 * feature adds a kind of item by `itemKinds` in its `feature.ts`.
 */
import { type AnyColumn, inArray, or, type SQL } from "drizzle-orm";
import { hasAnyKey, selectPathPrefix } from "../../database/conditions.ts";
import { BadRequest, Forbidden, NotFound } from "../../lib/errors.ts";
import type { FolderRight, Member } from "../app/context.ts";

/** An acl: grantee (`u/<user>` or `g/<group>`) to right; false grants reading, true reading and writing. */
export type Permissions = Record<string, boolean>;

/** The parts of a member that permission checks use. */
type Principal = Pick<Member, "username" | "groups" | "renaming">;

/** The group that every member of a workspace belongs to. */
export const EVERYONE_GROUP = "all";

/** Lists the grantees that stand for this member: the user and each of its groups. */
export function* listGrantees(member: Principal): Generator<string> {
  yield `u/${member.username}`;
  if (member.renaming?.to === member.username) yield `u/${member.renaming.from}`;
  yield `g/${EVERYONE_GROUP}`;
  for (const group of member.groups) yield `g/${group}`;
}

/** Whether a username is the member's; during a renaming, the former one counts too. */
function isUsername({ username, renaming }: Principal, name: string): boolean {
  return name === username || (renaming?.from === name && renaming.to === username);
}

export function isInGroup({ groups }: Principal, group: string): boolean {
  return group === EVERYONE_GROUP || groups.includes(group);
}

/** Whether a grantee, `u/<user>` or `g/<group>`, stands for this member. */
export function isGrantee(member: Principal, name: string): boolean {
  if (name.startsWith("g/")) return isInGroup(member, name.slice(2));
  return name.startsWith("u/") && isUsername(member, name.slice(2));
}

/** Returns the strongest grant of an acl for the member: true to write, false to read, undefined if there is none. */
export function findGrant(member: Principal, entries: Permissions): boolean | undefined {
  let found: boolean | undefined;
  for (const name in entries) {
    if (!isGrantee(member, name)) continue;
    if (entries[name]) return true;
    found = false;
  }
  return found;
}

/** Returns the member's right in a folder, from its owners and its acl. */
export function resolveFolderRight(
  member: Principal,
  folder: { owners: readonly string[]; extra_perms: Permissions },
): FolderRight | undefined {
  if (folder.owners.some((owner) => isGrantee(member, owner))) return "owner";
  const entry = findGrant(member, folder.extra_perms);
  return entry === undefined ? undefined : entry ? "write" : "read";
}

/** Returns the right that an item's path alone gives, without the item's own acl. */
function rightFromPath(member: Member, path: string): FolderRight | undefined {
  const end = path.indexOf("/", 2);
  if (end < 0) return undefined;
  const name = path.slice(2, end);
  if (path.startsWith("f/")) return member.folders.get(name);
  if (path.startsWith("u/")) return isUsername(member, name) ? "owner" : undefined;
  return path.startsWith("g/") && isInGroup(member, name) ? "owner" : undefined;
}

/** Whether the member owns everything at this path. Being an admin does not count as ownership. */
export function isOwner(member: Member, path: string): boolean {
  return rightFromPath(member, path) === "owner";
}

/** Whether the member may read: as an admin, by the path, or by any grant of the acl. */
export function canRead(member: Member, path: string, extra_perms: Permissions): boolean {
  return (
    member.is_admin ||
    rightFromPath(member, path) !== undefined ||
    findGrant(member, extra_perms) !== undefined
  );
}

/**
 * Whether the member may write: as an admin, by the path, or by a grant set to true. Operators only run and view.
 * @throws BadRequest while the user who owns the path is being renamed, because the items at it are being moved
 */
export function canWrite(member: Member, path: string, extra_perms: Permissions): boolean {
  requireNoRenaming(member, path);
  if (member.is_admin) return true;
  if (member.operator) return false;
  const right = rightFromPath(member, path);
  return right === "owner" || right === "write" || findGrant(member, extra_perms) === true;
}

function requireNoRenaming({ renaming, workspace_id }: Member, path: string): void {
  if (!renaming || ![renaming.from, renaming.to].some((name) => path.startsWith(`u/${name}/`))) return;
  const { from, to } = renaming;
  throw new BadRequest(
    `${path}: what is below u/${from}/ of workspace ${workspace_id} is being moved to u/${to}/: try again when it is done`,
  );
}

/**
 * Whether the member may rename and archive: admins and owners only, so that a mere writer cannot take an item from
 * others.
 */
export function canManage(member: Member, path: string): boolean {
  return member.is_admin || (!member.operator && isOwner(member, path));
}

/** Checks that a member may write an item. @throws Forbidden */
export function requireWriteAccess(member: Member, path: string, extra_perms: Permissions = {}): void {
  if (canWrite(member, path, extra_perms)) return;
  const [kind, folder = ""] = path.split("/");
  const reads = member.folders.has(folder) ? "may only read" : "sees no";
  const hint =
    kind === "f" && !member.operator
      ? `${member.username} ${reads} folder ${folder}: its owners and admins give the right to write`
      : undefined;
  throw new Forbidden(`${member.username} may not write to ${path}`, hint ? { hint } : {});
}

/** Checks that a member may manage an item. @param action the refused action, such as `archive` @throws Forbidden */
export function requireManageAccess(member: Member, path: string, action: string): void {
  if (canManage(member, path)) return;
  throw new Forbidden(`${member.username} may not ${action} ${path}: that is for its owners and admins`);
}

/** The item exists but cannot run now: it is archived or not ready. Only callers who may read it get the reason. */
export class NotRunnable extends BadRequest {
  readonly item: { path: string; extra_perms: Permissions };
  constructor(message: string, item: NotRunnable["item"]) {
    super(message);
    this.item = item;
  }
}

/** The item cannot run yet, but will later or after another deployment. Triggers that name it may be set up already. */
export class NotReady extends NotRunnable {}

/** The item cannot run yet: the job that prepares it has not ended. */
export class BeingPrepared extends NotReady {}

/**
 * Returns the item that `find` finds if the member may read it. `what` describes the item to callers who may not.
 * @throws NotFound; NotRunnable only for members who may read the item
 */
export async function findReadable<T extends NotRunnable["item"]>(
  member: Member,
  what: string,
  find: () => T | Promise<T>,
): Promise<T> {
  try {
    const found = find();
    const item = found instanceof Promise ? await found : found;
    if (canRead(member, item.path, item.extra_perms)) return item;
  } catch (cause) {
    const isHidden =
      cause instanceof NotRunnable && !canRead(member, cause.item.path, cause.item.extra_perms);
    if (!isHidden) throw cause;
  }
  throw new NotFound(`${what} in workspace ${member.workspace_id}`);
}

/** SQL condition equivalent to `canRead`, so that pages of lists come out full. Undefined: no restriction. */
export function readableBy(
  member: Member,
  item: { path: AnyColumn; extra_perms: AnyColumn },
): SQL | undefined {
  if (member.is_admin) return undefined;
  return or(readableByPath(member, item.path), hasAnyKey(item.extra_perms, [...listGrantees(member)]));
}

/**
 * Lists the path prefixes, such as `u/ann` and `f/data`, below which the member may read everything, whatever the acls
 * say.
 */
export function listReadablePrefixes(member: Member): string[] {
  return [...listGrantees(member), ...[...member.folders.keys()].map((name) => `f/${name}`)];
}

/** SQL condition: the member may read everything at this path, whatever the acls say. */
export function readableByPath(member: Member, path: AnyColumn): SQL {
  return inArray(selectPathPrefix(path), listReadablePrefixes(member));
}

/** SQL condition equivalent to `isOwner`. */
export function ownedBy(member: Member, path: AnyColumn): SQL {
  const owned = foldersWith(member, "owner").map((name) => `f/${name}`);
  return inArray(selectPathPrefix(path), [...listGrantees(member), ...owned]);
}

function foldersWith({ folders }: Member, ...rights: FolderRight[]): string[] {
  return [...folders].flatMap(([name, right]) => (rights.includes(right) ? [name] : [])).sort();
}

/** Returns the groups and folders listed in a user's record. */
export function describeRights(member: Member) {
  return {
    groups: [EVERYONE_GROUP, ...member.groups],
    folders: foldersWith(member, "write", "owner"),
    folders_read: [...member.folders.keys()].sort(),
    folders_owners: foldersWith(member, "owner"),
  };
}
