/** Queries of the run list. Few imports: they are part of the first load, see `pages.ts`. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { callOperation } from "../../api/call.ts";
import { queryClient } from "../../api/client.ts";
import { type Filters, parseFilters, serializeFilters } from "./filters.ts";
import { readPage } from "./pages.ts";

export const newestRunsQuery = (workspace: string, filters: Filters) =>
  queryOptions({
    queryKey: [workspace, "runs", "list", serializeFilters(filters).toString()],
    queryFn: ({ signal }) => readPage(workspace, filters, undefined, signal),
    placeholderData: keepPreviousData,
  });

export const queueDepthQuery = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "runs", "depth"],
    queryFn: ({ signal }) => callOperation("GET /w/{workspace}/jobs/queue/depth", { workspace }, signal),
  });

export const prefetchRuns = (workspace: string, search: URLSearchParams): Promise<unknown> =>
  Promise.all([
    queryClient.prefetchQuery(newestRunsQuery(workspace, parseFilters(search))),
    queryClient.prefetchQuery(queueDepthQuery(workspace)),
  ]);
