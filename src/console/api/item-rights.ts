/** The member's rights to an item at a path; the server checks them again. */
import { useQuery } from "@tanstack/react-query";
import type { Job } from "./interface.d.ts";
import { memberQuery, whoamiQuery } from "./session.ts";

type Permissions = Record<string, boolean>;

/** Returns a check for the right to change an item; false until the member is known. */
export function useMayWrite(workspace: string): (path: string, extra_perms?: Permissions) => boolean {
  const me = useQuery(whoamiQuery).data;
  const member = useQuery(memberQuery(workspace)).data;
  return (path, extra_perms = {}) => {
    if (me?.super_admin || member?.is_admin) return true;
    if (!member || member.operator) return false;
    const [kind, name = ""] = path.split("/");
    if (kind === "u" && name === member.username) return true;
    if (kind === "f" && member.folders.includes(name)) return true;
    if (kind === "g" && member.groups.includes(name)) return true;
    return isGranted(member, extra_perms);
  };
}

/** Returns a check for an item that the member may see, and not change; false until the member is known. */
export function useIsReadOnly(workspace: string): (path: string, extra_perms?: Permissions) => boolean {
  const isKnown = useQuery(memberQuery(workspace)).isSuccess;
  const mayWrite = useMayWrite(workspace);
  return (path, extra_perms) => isKnown && !mayWrite(path, extra_perms);
}

type Rights = Pick<Job, "permissioned_as" | "email" | "created_by" | "script_path" | "visible_to_owner">;

/** Returns a check for the right to cancel a run: of whom it runs as, who started it, owners of its path, and admins. */
export function useMayCancel(workspace: string): (job: Rights) => boolean {
  const me = useQuery(whoamiQuery).data;
  const member = useQuery(memberQuery(workspace)).data;
  return ({ permissioned_as, email, created_by, script_path, visible_to_owner }) => {
    if (me?.super_admin || member?.is_admin) return true;
    if (!member) return false;
    const owners = [`u/${member.username}`, ...member.groups.map((group) => `g/${group}`)];
    if (owners.includes(permissioned_as) || email === member.email || created_by === member.username)
      return true;
    const place = script_path?.split("/").slice(0, 2).join("/") ?? "";
    const folders = member.folders_owners.map((name) => `f/${name}`);
    return visible_to_owner && [...owners, ...folders].includes(place);
  };
}

/** Returns a function that checks whether the member manages a group; false until the member is known. */
export function useMayManage(workspace: string): (group: { extra_perms: Permissions }) => boolean {
  const me = useQuery(whoamiQuery).data;
  const member = useQuery(memberQuery(workspace)).data;
  return ({ extra_perms }) => {
    if (me?.super_admin || member?.is_admin) return true;
    if (!member || member.operator) return false;
    return isGranted(member, extra_perms);
  };
}

const isGranted = (member: { username: string; groups: string[] }, extra_perms: Permissions): boolean =>
  [`u/${member.username}`, ...member.groups.map((group) => `g/${group}`)].some(
    (grantee) => extra_perms[grantee] === true,
  );

/** Returns the path prefix of the member's new items, such as `u/ann/`. */
export function useOwnPrefix(workspace: string): string {
  const member = useQuery(memberQuery(workspace)).data;
  return member ? `u/${member.username}/` : "";
}
