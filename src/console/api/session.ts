/** The signed-in user, their workspaces and permissions. */
import { queryOptions, useQuery } from "@tanstack/react-query";
import { type Answer, callOperation, type OperationName } from "./call.ts";
import { queryClient } from "./client.ts";
import type { Operations } from "./interface.d.ts";

export const whoamiQuery = queryOptions({
  queryKey: ["whoami"],
  queryFn: ({ signal }) => callOperation("GET /users/whoami", {}, signal),
  staleTime: 60_000,
});

export const myWorkspacesQuery = queryOptions({
  queryKey: ["workspaces"],
  queryFn: ({ signal }) => callOperation("GET /workspaces/users", {}, signal),
  staleTime: 60_000,
});

export const memberQuery = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "whoami"],
    queryFn: ({ signal }) => callOperation("GET /w/{workspace}/users/whoami", { workspace }, signal),
    staleTime: 60_000,
  });

/** Removes a workspace that the user has left from their list, which is reloaded only later. */
export function removeMyWorkspace(workspace: string): void {
  queryClient.setQueryData(
    myWorkspacesQuery.queryKey,
    (known) => known && { ...known, workspaces: known.workspaces.filter(({ id }) => id !== workspace) },
  );
}

/** Changes the id of a workspace in the user's list, which is reloaded only later. */
export function renameMyWorkspace(from: string, to: string): void {
  queryClient.setQueryData(
    myWorkspacesQuery.queryKey,
    (known) =>
      known && {
        ...known,
        workspaces: known.workspaces.map((each) => (each.id === from ? { ...each, id: to } : each)),
      },
  );
}

type Access = Operations[OperationName]["access"];
type Me = Answer<"GET /users/whoami">;
type Member = Answer<"GET /w/{workspace}/users/whoami">;

function mayAs(access: Access, me: Me | undefined, member: Member | undefined): boolean {
  if (access === "anyone") return true;
  if (!me) return false;
  if (access === "user" || me.super_admin) return true;
  if (access === "devops") return me.devops;
  if (!member || access === "superAdmin") return false;
  if (access === "member") return true;
  return access === "author" ? !member.operator : member.is_admin;
}

/** Checks whether the user may call an operation. */
export type May = <N extends OperationName>(operation: N, access: Operations[N]["access"]) => boolean;

/**
 * Returns a permission check: `may("POST /w/{workspace}/scripts/create", "author")`. The second argument must equal the
 * operation's declared access; the compiler checks it. Returns false until the user has been loaded.
 */
export function useMay(workspace?: string): May {
  const me = useQuery(whoamiQuery).data;
  const member = useQuery({ ...memberQuery(workspace ?? ""), enabled: workspace !== undefined }).data;
  return (_operation, access) => mayAs(access, me, member);
}
