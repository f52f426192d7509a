import { queryOptions } from "@tanstack/react-query";
import { type Answer, call } from "../../../api/call.ts";

export type WorkspaceSettings = Answer<"GET /w/{workspace}/workspaces/get_settings">;

export const settingsOf = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "settings", "one"],
    queryFn: ({ signal }) => call("GET /w/{workspace}/workspaces/get_settings", { workspace }, signal),
  });

export const usageOf = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "settings", "usage"],
    queryFn: ({ signal }) => call("GET /w/{workspace}/users/list_usage", { workspace }, signal),
  });
