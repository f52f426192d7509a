/** Rows of the run list: polls the first page and keeps earlier pages. */
import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { ask, call } from "../../api/call.ts";
import type { Job } from "../../api/interface.d.ts";
import { useLive } from "../../api/live.ts";
import { tellProblem } from "../../parts/Problem.tsx";
import { type Filters, serializeFilters, toQuery } from "./filters.ts";

const PAGE_SIZE = 100;
const POLL_INTERVAL_MS = 4_000;

interface Page {
  rows: Job[];
  /** No older runs exist. */
  ended: boolean;
}

/** Reads the runs after the shown ones; searches if there are words to find. */
async function readPage(
  workspace: string,
  filters: Filters,
  shown: Job[] = [],
  signal?: AbortSignal,
): Promise<Page> {
  if (filters.text !== "") {
    const words = { search_query: filters.text, pagination_offset: shown.length };
    const query = { ...toQuery(filters), ...words };
    const { hits } = await call("GET /srch/w/{workspace}/index/search/job", { workspace, query }, signal);
    return { rows: hits.map(({ document }) => document), ended: hits.length < PAGE_SIZE };
  }
  const last = shown.at(-1);
  const after = last ? { created_before: last.created_at } : {};
  const query = { ...toQuery(filters), per_page: PAGE_SIZE, ...after };
  const response = await ask("GET /w/{workspace}/jobs/list", { workspace, query }, signal);
  const rows = (await response.json()) as Job[];
  return { rows, ended: rows.length < PAGE_SIZE && !response.headers.has("searched-until") };
}

const newest = (workspace: string, filters: Filters) =>
  queryOptions({
    queryKey: [workspace, "runs", "list", serializeFilters(filters).toString()],
    queryFn: ({ signal }) => readPage(workspace, filters, [], signal),
    placeholderData: keepPreviousData,
  });

/** Merges new rows with earlier ones, without duplicates. */
function join(fresh: Job[], before: Job[]): Job[] {
  const ids = new Set(fresh.map(({ id }) => id));
  return [...fresh, ...before.filter(({ id }) => !ids.has(id))];
}

export function useRuns(workspace: string, filters: Filters, still: boolean) {
  const key = serializeFilters(filters).toString();
  const first = useQuery({ ...newest(workspace, filters), ...useLive(POLL_INTERVAL_MS, still) });
  const [earlier, setEarlier] = useState<Page>();
  const [loading, setLoading] = useState(false);
  const shown = useRef<Job[]>([]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another list begins anew
  useEffect(() => setEarlier(undefined), [key, workspace]);
  const rows = useMemo(() => {
    const fresh = first.data?.rows ?? [];
    if (!earlier) return fresh;
    // Without overlap there may be a gap between the two; then the list restarts with the first page.
    const known = new Set(earlier.rows.map(({ id }) => id));
    return fresh.some(({ id }) => known.has(id)) ? join(fresh, earlier.rows) : fresh;
  }, [first.data, earlier]);
  shown.current = rows;
  const more = useCallback(async () => {
    if (shown.current.length === 0) return;
    setLoading(true);
    try {
      const { rows: page, ended } = await readPage(workspace, filters, shown.current);
      setEarlier({ rows: join(shown.current, page), ended });
    } catch (error) {
      tellProblem(error);
    } finally {
      setLoading(false);
    }
  }, [workspace, filters]);
  const { ended = true } = earlier ?? first.data ?? {};
  return { first, rows, more, loading, ended };
}
