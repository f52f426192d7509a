import { keepPreviousData, queryOptions, useMutation } from "@tanstack/react-query";
import { callOperation, type Input } from "../../api/call.ts";
import { queryClient } from "../../api/client.ts";
import type { Job } from "../../api/interface.d.ts";
import { notifyError } from "../../parts/elements/Problem.tsx";
import { appsQuery, flowsQuery, scriptsQuery } from "../../parts/items/lists.ts";
import type { Item } from "./items.ts";

/** Items of one request. */
const BATCH_SIZE = 1_000;

type Runnable = Input<"POST /w/{workspace}/jobs/latest">["body"][number];

/** Distinguishes lists of items in query keys, which are compared at each rendering. */
function computeDigest(items: Runnable[]): string {
  let [low, high] = [0x811c9dc5, 0x9e3779b9];
  for (const { kind, path } of items) {
    for (const character of `${kind} ${path}\n`) {
      const code = character.codePointAt(0)!;
      low = Math.imul(low ^ code, 0x01000193);
      high = Math.imul(high ^ code, 0x85ebca6b) ^ (high >>> 15);
    }
  }
  return `${items.length} ${low >>> 0} ${high >>> 0}`;
}

/**
 * Loads the latest run of each script and flow. Create the query only when the items change, because there may be
 * thousands.
 */
export const latestRunsQuery = (workspace: string, items: Runnable[]) =>
  queryOptions({
    queryKey: [workspace, "runs", "latest", computeDigest(items)],
    async queryFn({ signal }) {
      const runs: Job[] = [];
      for (let at = 0; at < items.length; at += BATCH_SIZE) {
        const body = items.slice(at, at + BATCH_SIZE);
        runs.push(...(await callOperation("POST /w/{workspace}/jobs/latest", { workspace, body }, signal)));
      }
      return runs;
    },
    enabled: items.length > 0,
    placeholderData: keepPreviousData,
  });

const listOf = (workspace: string, kind: Item["kind"]) =>
  ({ script: scriptsQuery, flow: flowsQuery, app: appsQuery })[kind](workspace)
    .queryKey as readonly unknown[];

/** Toggles a favourite optimistically, with rollback. */
export function useToggleFavorite(workspace: string) {
  const mark = (item: Item, starred: boolean) =>
    queryClient.setQueryData<{ path: string; starred: boolean }[]>(listOf(workspace, item.kind), (list) =>
      list?.map((each) => (each.path === item.path ? { ...each, starred } : each)),
    );
  return useMutation({
    mutationFn: ({ kind, path, starred }: Item) => {
      const input = { workspace, body: { favorite_kind: kind, path } };
      return starred
        ? callOperation("POST /w/{workspace}/favorites/unstar", input)
        : callOperation("POST /w/{workspace}/favorites/star", input);
    },
    onMutate: (item) => mark(item, !item.starred),
    onError: (error, item) => {
      mark(item, item.starred);
      notifyError(error);
    },
  });
}
