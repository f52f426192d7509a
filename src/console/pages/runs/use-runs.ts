/** Rows of the run list: polls the first page and keeps earlier pages. */
import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import type { Job } from "../../api/interface.d.ts";
import { usePolling } from "../../api/live.ts";
import { notifyError } from "../../parts/elements/Problem.tsx";
import { type Filters, serializeFilters } from "./filters.ts";
import { type Page, readPage } from "./pages.ts";
import { newestRunsQuery } from "./queries.ts";

const POLL_INTERVAL_MS = 4_000;

/** Merges new rows with earlier ones, without duplicates. */
function mergeRuns(fresh: Job[], before: Job[]): Job[] {
  const ids = new Set(fresh.map(({ id }) => id));
  return [...fresh, ...before.filter(({ id }) => !ids.has(id))];
}

/** Whether the newest runs and those that were shown before have no gap between them. */
function isJoined({ rows, next }: Page, earlier: Job[]): boolean {
  if (!next) return true;
  const known = new Set(earlier.map(({ id }) => id));
  return rows.length === 0 || rows.some(({ id }) => known.has(id));
}

export function useRuns(workspace: string, filters: Filters, still: boolean) {
  const key = serializeFilters(filters).toString();
  const first = useQuery({ ...newestRunsQuery(workspace, filters), ...usePolling(POLL_INTERVAL_MS, still) });
  const [earlier, setEarlier] = useState<Page>();
  const [loading, setLoading] = useState(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another list starts again
  useEffect(() => setEarlier(undefined), [key, workspace]);
  const shown = useMemo((): Page => {
    const fresh = first.data ?? { rows: [] };
    // With a gap between the two the list restarts with the first page.
    if (!earlier || !isJoined(fresh, earlier.rows)) return fresh;
    return { ...earlier, rows: mergeRuns(fresh.rows, earlier.rows) };
  }, [first.data, earlier]);
  const latest = useRef({ shown, key });
  latest.current = { shown, key };
  const more = useCallback(async () => {
    const { shown, key } = latest.current;
    if (!shown.next) return;
    setLoading(true);
    try {
      const page = await readPage(workspace, filters, shown.next);
      // Another list may be shown meanwhile.
      if (latest.current.key === key)
        setEarlier({ ...page, rows: mergeRuns(latest.current.shown.rows, page.rows) });
    } catch (error) {
      notifyError(error);
    } finally {
      setLoading(false);
    }
  }, [workspace, filters]);
  return { first, ...shown, more, loading };
}
