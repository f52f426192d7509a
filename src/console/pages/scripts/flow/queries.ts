import { queryOptions } from "@tanstack/react-query";
import { type Answer, callOperation } from "../../../api/call.ts";

export type Flow = Answer<"GET /w/{workspace}/flows/get/{path}">;

export const flowQuery = (workspace: string, path: string) =>
  queryOptions({
    queryKey: [workspace, "flows", "one", path],
    queryFn: ({ signal }) =>
      callOperation("GET /w/{workspace}/flows/get/{path}", { workspace, path }, signal),
  });

export const flowHistoryQuery = (workspace: string, path: string) =>
  queryOptions({
    queryKey: [workspace, "flows", "history", path],
    queryFn: ({ signal }) =>
      callOperation("GET /w/{workspace}/flows/history/p/{path}", { workspace, path }, signal),
  });

/** Loads a version of a flow, which never changes. */
export const flowVersionQuery = (workspace: string, path: string, version: number | undefined) =>
  queryOptions({
    queryKey: [workspace, "flows", "version-of", path, version],
    queryFn: ({ signal }) =>
      callOperation(
        "GET /w/{workspace}/flows/get/v/{version}/p/{path}",
        { workspace, path, version: String(version) },
        signal,
      ),
    enabled: version !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
