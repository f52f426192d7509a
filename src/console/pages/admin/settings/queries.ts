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

/** Variables that the workspace adds to the environment of runs. */
export const environmentOf = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "settings", "environment"],
    queryFn: async ({ signal }) => {
      const all = await call("GET /w/{workspace}/variables/list_contextual", { workspace }, signal);
      return all.filter(({ is_custom }) => is_custom);
    },
  });
