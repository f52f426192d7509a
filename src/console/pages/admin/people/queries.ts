import { queryOptions } from "@tanstack/react-query";
import { call } from "../../../api/call.ts";

export const memberList = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "members", "list"],
    queryFn: ({ signal }) => call("GET /w/{workspace}/users/list", { workspace }, signal),
  });

export const usernameList = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "members", "names"],
    queryFn: ({ signal }) => call("GET /w/{workspace}/users/list_usernames", { workspace }, signal),
  });

export const invitationList = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "invitations", "list"],
    queryFn: ({ signal }) =>
      call("GET /w/{workspace}/workspaces/list_pending_invites", { workspace }, signal),
  });

export const groupList = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "groups", "list"],
    queryFn: ({ signal }) =>
      call("GET /w/{workspace}/groups/list", { workspace, query: { per_page: 1_000 } }, signal),
  });

export const groupOf = (workspace: string, name: string) =>
  queryOptions({
    queryKey: [workspace, "groups", "one", name],
    queryFn: ({ signal }) => call("GET /w/{workspace}/groups/get/{name}", { workspace, name }, signal),
  });

export const folderList = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "folders", "list"],
    queryFn: ({ signal }) =>
      call("GET /w/{workspace}/folders/list", { workspace, query: { per_page: 1_000 } }, signal),
  });
