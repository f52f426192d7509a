/** The one module that decides who may read and write what. */
import type { Member } from "../context.ts";

type Permissions = Record<string, boolean>;

/** The names an entry of `extra_perms` may stand under for this member: the user, and each of its groups. */
export function* namesOf(member: Member): Generator<string> {
  yield `u/${member.username}`;
  yield "g/all";
  for (const group of member.groups) yield `g/${group}`;
}

/** `u/<me>/…` belongs to its user, `g/<group>/…` to the group's members. */
export function isOwner(member: Member, path: string): boolean {
  for (const name of namesOf(member)) if (path.startsWith(`${name}/`)) return true;
  return false;
}

/** Admins, owners, and whoever has an entry, whichever way it is set. */
export function canRead(member: Member, path: string, extra_perms: Permissions): boolean {
  if (member.is_admin || isOwner(member, path)) return true;
  for (const name of namesOf(member)) if (name in extra_perms) return true;
  return false;
}

/** Admins, owners, and whoever has an entry that is true. Operators run and view only. */
export function canWrite(member: Member, path: string, extra_perms: Permissions): boolean {
  if (member.is_admin) return true;
  if (member.operator) return false;
  if (isOwner(member, path)) return true;
  for (const name of namesOf(member)) if (extra_perms[name] === true) return true;
  return false;
}
