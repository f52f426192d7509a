/** Queries for the scripts, flows and apps of a workspace. */
import { queryOptions } from "@tanstack/react-query";
import { call } from "../api/call.ts";

const MAX_ITEMS = 1_000;

export const scriptList = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "scripts", "list"],
    queryFn: ({ signal }) =>
      call("GET /w/{workspace}/scripts/list", { workspace, query: { per_page: MAX_ITEMS } }, signal),
  });

export const flowList = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "flows", "list"],
    queryFn: ({ signal }) =>
      call(
        "GET /w/{workspace}/flows/list",
        { workspace, query: { per_page: MAX_ITEMS, without_description: true } },
        signal,
      ),
  });

export const appList = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "apps", "list"],
    queryFn: ({ signal }) =>
      call("GET /w/{workspace}/apps/list", { workspace, query: { per_page: MAX_ITEMS } }, signal),
  });
