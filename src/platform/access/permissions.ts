/**
 * The one module that decides who may read and write what. It asks nobody: a member carries its groups and its rights in
 * folders (workspaces/members.ts), an item its path and its own entries.
 *
 * - `u/ann/…` belongs to ann, `g/ops/…` to the members of the group, `f/data/…` to the owners of the folder.
 * - The entries of a folder say who may read (false) and write (true) what is in it; those of an item say it of the item.
 * - Rights add up: none takes away what another gives. Admins have all of them, operators write nothing.
 */
import { type AnyColumn, inArray, or, type SQL } from "drizzle-orm";
import { hasKey, placeOf } from "../../database/conditions.ts";
import { BadRequest, Forbidden, NotFound } from "../../lib/errors.ts";
import type { FolderRight, Member } from "../app/context.ts";

/** Who may read (false) and also write (true), by name: `u/<user>` or `g/<group>`. */
export type Permissions = Record<string, boolean>;

/** Who is asked about: nothing else of a member counts. */
type Person = Pick<Member, "username" | "groups">;

/** The group that everybody in the workspace is in. */
export const EVERYBODY = "all";

/** The names an entry may stand under for this member: the user, and each of its groups. */
export function* namesOf(member: Person): Generator<string> {
  yield `u/${member.username}`;
  yield `g/${EVERYBODY}`;
  for (const group of member.groups) yield `g/${group}`;
}

export function isInGroup({ groups }: Person, group: string): boolean {
  return group === EVERYBODY || groups.includes(group);
}

/** Whether a name, `u/<user>` or `g/<group>`, means this member. */
export function isMeant(member: Person, name: string): boolean {
  if (name.startsWith("g/")) return isInGroup(member, name.slice(2));
  return name === `u/${member.username}`;
}

/** What entries give: true to write, false to read, undefined when they do not name the member. */
export function entryFor(member: Person, entries: Permissions): boolean | undefined {
  let found: boolean | undefined;
  for (const name in entries) {
    if (!isMeant(member, name)) continue;
    if (entries[name]) return true;
    found = false;
  }
  return found;
}

/** What a folder gives a member. */
export function folderRight(
  member: Person,
  folder: { owners: readonly string[]; extra_perms: Permissions },
): FolderRight | undefined {
  if (folder.owners.some((owner) => isMeant(member, owner))) return "owner";
  const entry = entryFor(member, folder.extra_perms);
  return entry === undefined ? undefined : entry ? "write" : "read";
}

/** What the place of an item gives, whatever the item's own entries say. */
function rightAt(member: Member, path: string): FolderRight | undefined {
  const end = path.indexOf("/", 2);
  if (end < 0) return undefined;
  const name = path.slice(2, end);
  if (path.startsWith("f/")) return member.folders.get(name);
  if (path.startsWith("u/")) return name === member.username ? "owner" : undefined;
  return path.startsWith("g/") && isInGroup(member, name) ? "owner" : undefined;
}

/** Whether the place of the path is the member's own: admins own nothing by being admins. */
export function isOwner(member: Member, path: string): boolean {
  return rightAt(member, path) === "owner";
}

/** Admins, whoever may read what is there, and whoever has an entry, whichever way it is set. */
export function canRead(member: Member, path: string, extra_perms: Permissions): boolean {
  return (
    member.is_admin || rightAt(member, path) !== undefined || entryFor(member, extra_perms) !== undefined
  );
}

/** Admins, whoever may write there, and whoever has an entry that is true. Operators run and view only. */
export function canWrite(member: Member, path: string, extra_perms: Permissions): boolean {
  if (member.is_admin) return true;
  if (member.operator) return false;
  const right = rightAt(member, path);
  return right === "owner" || right === "write" || entryFor(member, extra_perms) === true;
}

/** Renaming and archiving are for admins and owners: whoever may only write does not take it away from the others. */
export function canManage(member: Member, path: string): boolean {
  return member.is_admin || (!member.operator && isOwner(member, path));
}

/** @throws Forbidden */
export function requireWrite(member: Member, path: string, extra_perms: Permissions = {}): void {
  if (canWrite(member, path, extra_perms)) return;
  const [kind, folder = ""] = path.split("/");
  const reads = member.folders.has(folder) ? "may only read" : "sees no";
  const hint =
    kind === "f" && !member.operator
      ? `${member.username} ${reads} folder ${folder}: its owners and admins give the right to write`
      : undefined;
  throw new Forbidden(`${member.username} may not write to ${path}`, hint ? { hint } : {});
}

/** @param action what is refused, such as `archive` @throws Forbidden */
export function requireManage(member: Member, path: string, action: string): void {
  if (canManage(member, path)) return;
  throw new Forbidden(`${member.username} may not ${action} ${path}: that is for its owners and admins`);
}

/** It is there but cannot be run now: archived, or not ready. Why, is told to those only who may read it. */
export class NotRunnable extends BadRequest {
  readonly item: { path: string; extra_perms: Permissions };
  constructor(message: string, item: NotRunnable["item"]) {
    super(message);
    this.item = item;
  }
}

/** What cannot be run yet, and will be by itself or by another deployment: whatever names it may be set up. */
export class NotReady extends NotRunnable {}

/**
 * What `find` finds, when the member may read it. `what` names it to who may not.
 * @throws NotFound; to who may read it also NotRunnable
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

/** `canRead` said to the database, so that pages of lists come out full. Undefined: everything. */
export function readableBy(
  member: Member,
  item: { path: AnyColumn; extra_perms: AnyColumn },
): SQL | undefined {
  if (member.is_admin) return undefined;
  return or(
    inArray(placeOf(item.path), readablePlaces(member)),
    hasKey(item.extra_perms, [...namesOf(member)]),
  );
}

/** Places such as `u/ann` and `f/data` in which the member may read all there is, whatever entries say. */
export function readablePlaces(member: Member): string[] {
  return [...namesOf(member), ...[...member.folders.keys()].map((name) => `f/${name}`)];
}

/** `isOwner` said to the database. */
export function ownedBy(member: Member, path: AnyColumn): SQL {
  const owned = foldersWith(member, "owner").map((name) => `f/${name}`);
  return inArray(placeOf(path), [...namesOf(member), ...owned]);
}

function foldersWith({ folders }: Member, ...rights: FolderRight[]): string[] {
  return [...folders].flatMap(([name, right]) => (rights.includes(right) ? [name] : [])).sort();
}

/** What the record of a user says of groups and folders. */
export function rightsOf(member: Member) {
  return {
    groups: [EVERYBODY, ...member.groups],
    folders: foldersWith(member, "write", "owner"),
    folders_read: [...member.folders.keys()].sort(),
    folders_owners: foldersWith(member, "owner"),
  };
}
