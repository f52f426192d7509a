import { queryOptions } from "@tanstack/react-query";
import { type Answer, callOperation } from "../../../api/call.ts";

export type WorkspaceSettings = Answer<"GET /w/{workspace}/workspaces/get_settings">;

export const workspaceSettingsQuery = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "settings", "one"],
    queryFn: ({ signal }) =>
      callOperation("GET /w/{workspace}/workspaces/get_settings", { workspace }, signal),
  });

export const usageQuery = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "settings", "usage"],
    queryFn: ({ signal }) => callOperation("GET /w/{workspace}/users/list_usage", { workspace }, signal),
  });

/** Loads the variables that the workspace adds to the environment of runs. */
export const environmentQuery = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "settings", "environment"],
    queryFn: async ({ signal }) => {
      const all = await callOperation("GET /w/{workspace}/variables/list_contextual", { workspace }, signal);
      return all.filter(({ is_custom }) => is_custom);
    },
  });
