import { queryOptions } from "@tanstack/react-query";
import { callOperation } from "../../../api/call.ts";

export const membersQuery = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "members", "list"],
    queryFn: ({ signal }) => callOperation("GET /w/{workspace}/users/list", { workspace }, signal),
  });

export const usernamesQuery = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "members", "names"],
    queryFn: ({ signal }) => callOperation("GET /w/{workspace}/users/list_usernames", { workspace }, signal),
  });

export const invitationsQuery = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "invitations", "list"],
    queryFn: ({ signal }) =>
      callOperation("GET /w/{workspace}/workspaces/list_pending_invites", { workspace }, signal),
  });

export const groupsQuery = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "groups", "list"],
    queryFn: ({ signal }) =>
      callOperation("GET /w/{workspace}/groups/list", { workspace, query: { per_page: 1_000 } }, signal),
  });

export const groupQuery = (workspace: string, name: string) =>
  queryOptions({
    queryKey: [workspace, "groups", "one", name],
    queryFn: ({ signal }) =>
      callOperation("GET /w/{workspace}/groups/get/{name}", { workspace, name }, signal),
  });

export const foldersQuery = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "folders", "list"],
    queryFn: ({ signal }) =>
      callOperation("GET /w/{workspace}/folders/list", { workspace, query: { per_page: 1_000 } }, signal),
  });
