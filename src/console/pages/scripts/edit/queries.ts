import { queryOptions } from "@tanstack/react-query";
import { call } from "../../../api/call.ts";
import type { Language } from "../../../parts/scripts.ts";

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
