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

const newest = (workspace: string, filters: Filters) =>
  queryOptions({
    queryKey: [workspace, "runs", "list", serializeFilters(filters).toString()],
    queryFn: ({ signal }) =>
      call(
        "GET /w/{workspace}/jobs/list",
        { workspace, query: { ...toQuery(filters), per_page: PAGE_SIZE } },
        signal,
      ),
    placeholderData: keepPreviousData,
  });

interface Earlier {
  rows: Job[];
  /** No older runs exist. */
  ended: boolean;
}

/** Merges fresh rows with earlier ones, without duplicates. */
function join(fresh: Job[], before: Job[]): Job[] {
  const ids = new Set(fresh.map(({ id }) => id));
  return [...fresh, ...before.filter(({ id }) => !ids.has(id))];
}

export function useRuns(workspace: string, filters: Filters, still: boolean) {
  const key = serializeFilters(filters).toString();
  const first = useQuery({ ...newest(workspace, filters), ...useLive(POLL_INTERVAL_MS, still) });
  const [earlier, setEarlier] = useState<Earlier>();
  const [loading, setLoading] = useState(false);
  const shown = useRef<Job[]>([]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another list begins anew
  useEffect(() => setEarlier(undefined), [key, workspace]);
  const rows = useMemo(() => {
    const fresh = first.data ?? [];
    if (!earlier) return fresh;
    // Without overlap rows may be missing between the two; then the list restarts with the first page.
    const known = new Set(earlier.rows.map(({ id }) => id));
    return fresh.some(({ id }) => known.has(id)) ? join(fresh, earlier.rows) : fresh;
  }, [first.data, earlier]);
  shown.current = rows;
  const more = useCallback(async () => {
    const last = shown.current.at(-1);
    if (!last) return;
    setLoading(true);
    try {
      const query = { ...toQuery(filters), per_page: PAGE_SIZE, created_before: last.created_at };
      const response = await ask("GET /w/{workspace}/jobs/list", { workspace, query });
      const page = (await response.json()) as Job[];
      const ended = page.length < PAGE_SIZE && !response.headers.has("searched-until");
      setEarlier({ rows: join(shown.current, page), ended });
    } catch (error) {
      tellProblem(error);
    } finally {
      setLoading(false);
    }
  }, [workspace, filters]);
  const ended = earlier ? earlier.ended : (first.data?.length ?? 0) < PAGE_SIZE;
  return { first, rows, more, loading, ended };
}
