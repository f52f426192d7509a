import { queryOptions, useMutation } from "@tanstack/react-query";
import { call } from "../../api/call.ts";
import { queryClient } from "../../api/client.ts";
import { appList, flowList, scriptList } from "../../parts/lists.ts";
import { tellProblem } from "../../parts/Problem.tsx";
import type { Item } from "./items.ts";

/** Number of recent runs searched for the last run of each item. */
const RECENT_RUNS = 300;

export const latestRuns = (workspace: string) =>
  queryOptions({
    queryKey: [workspace, "runs", "latest"],
    queryFn: ({ signal }) =>
      call(
        "GET /w/{workspace}/jobs/list",
        { workspace, query: { per_page: RECENT_RUNS, has_null_parent: true, job_kinds: "script,flow" } },
        signal,
      ),
  });

const listOf = (workspace: string, kind: Item["kind"]) =>
  ({ script: scriptList, flow: flowList, app: appList })[kind](workspace).queryKey as readonly unknown[];

/** Toggles a favourite optimistically, with rollback. */
export function useStar(workspace: string) {
  const mark = (item: Item, starred: boolean) =>
    queryClient.setQueryData<{ path: string; starred: boolean }[]>(listOf(workspace, item.kind), (list) =>
      list?.map((each) => (each.path === item.path ? { ...each, starred } : each)),
    );
  return useMutation({
    mutationFn: ({ kind, path, starred }: Item) => {
      const input = { workspace, body: { favorite_kind: kind, path } };
      return starred
        ? call("POST /w/{workspace}/favorites/unstar", input)
        : call("POST /w/{workspace}/favorites/star", input);
    },
    onMutate: (item) => mark(item, !item.starred),
    onError: (error, item) => {
      mark(item, item.starred);
      tellProblem(error);
    },
  });
}
