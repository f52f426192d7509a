import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { call } from "../../../api/call.ts";
import type { Language } from "../../../parts/scripts.ts";

/** Waits until nothing was typed for so long. */
const QUIET_MS = 500;

/** What is kept of a script that is not deployed yet. */
export interface Draft {
  content: string;
  language: Language;
  summary: string;
  /** Of a new script, below its owner. */
  name?: string;
  /** The version it was begun from; missing for a new script, and where nobody noted it. */
  parent_hash?: string;
}

/** The deployed script with the draft beside it. */
export const scriptWithDraft = (workspace: string, path: string) =>
  queryOptions({
    queryKey: [workspace, "scripts", "draft", path],
    queryFn: ({ signal }) => call("GET /w/{workspace}/scripts/get/draft/{path}", { workspace, path }, signal),
    // What is written in the editor must not change under the person who writes.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });

/** Returns a value once it has been the same for a while. */
export function useQuiet<T>(value: T, ms = QUIET_MS): T {
  const [quiet, setQuiet] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setQuiet(value), ms);
    return () => clearTimeout(timer);
  }, [value, ms]);
  return quiet;
}

/** What the server finds in the code: its arguments, its packages, or where it cannot be parsed. */
export function useAnalysis(workspace: string, language: Language, content: string) {
  const quiet = useQuiet(content);
  return useQuery({
    queryKey: [workspace, "scripts", "analysis", language, quiet],
    queryFn: ({ signal }) =>
      call("POST /w/{workspace}/scripts/analyse", { workspace, body: { language, content: quiet } }, signal),
    placeholderData: keepPreviousData,
    gcTime: 0,
    staleTime: Number.POSITIVE_INFINITY,
  }).data;
}
