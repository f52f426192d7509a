import { queryOptions } from "@tanstack/react-query";
import { type Answer, call } from "../../../api/call.ts";

export type Flow = Answer<"GET /w/{workspace}/flows/get/{path}">;

export const oneFlow = (workspace: string, path: string) =>
  queryOptions({
    queryKey: [workspace, "flows", "one", path],
    queryFn: ({ signal }) => call("GET /w/{workspace}/flows/get/{path}", { workspace, path }, signal),
  });

export const flowHistory = (workspace: string, path: string) =>
  queryOptions({
    queryKey: [workspace, "flows", "history", path],
    queryFn: ({ signal }) => call("GET /w/{workspace}/flows/history/p/{path}", { workspace, path }, signal),
  });

/** A version of a flow never changes. */
export const flowVersion = (workspace: string, path: string, version: number | undefined) =>
  queryOptions({
    queryKey: [workspace, "flows", "version-of", path, version],
    queryFn: ({ signal }) =>
      call(
        "GET /w/{workspace}/flows/get/v/{version}/p/{path}",
        { workspace, path, version: String(version) },
        signal,
      ),
    enabled: version !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
  });
