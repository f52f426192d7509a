/** The member's rights to an item at a path; the server checks them again. */
import { useQuery } from "@tanstack/react-query";
import { memberOf, whoami } from "../../api/session.ts";

type Permissions = Record<string, boolean>;

/** Returns a check for the right to change an item; false until the member is known. */
export function useMayWrite(workspace: string): (path: string, extra_perms?: Permissions) => boolean {
  const me = useQuery(whoami).data;
  const member = useQuery(memberOf(workspace)).data;
  return (path, extra_perms = {}) => {
    if (me?.super_admin || member?.is_admin) return true;
    if (!member || member.operator) return false;
    const [kind, name = ""] = path.split("/");
    if (kind === "u" && name === member.username) return true;
    if (kind === "f" && member.folders.includes(name)) return true;
    if (kind === "g" && member.groups.includes(name)) return true;
    const grantees = [`u/${member.username}`, ...member.groups.map((group) => `g/${group}`)];
    return grantees.some((grantee) => extra_perms[grantee] === true);
  };
}

/** Returns the path prefix of the member's new items, such as `u/ann/`. */
export function useOwnPrefix(workspace: string): string {
  const member = useQuery(memberOf(workspace)).data;
  return member ? `u/${member.username}/` : "";
}
