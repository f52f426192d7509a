import { queryOptions } from "@tanstack/react-query";
import { callOperation } from "../../../api/call.ts";
import { awaitSaves } from "../../../parts/editor/drafts.ts";
import type { Language } from "../../../parts/items/languages.ts";

/** Content of the draft of a script. */
export interface Draft {
  content: string;
  language: Language;
  summary: string;
  /** Name of a new script, below its owner. */
  name?: string;
  /** The version that it is based on; absent for a new script, or if unknown. */
  parent_hash?: string;
}

/** Whether a script of this path was archived. */
export const isArchivedQuery = (workspace: string, path: string) =>
  queryOptions({
    queryKey: [workspace, "scripts", "archived", path],
    queryFn: async ({ signal }) => {
      const query = { path_exact: path, show_archived: true, include_without_main: true };
      const found = await callOperation("GET /w/{workspace}/scripts/list", { workspace, query }, signal);
      return found.length > 0;
    },
  });

/** Loads the deployed script with the user's draft. */
export const scriptWithDraftQuery = (workspace: string, path: string) =>
  queryOptions({
    queryKey: [workspace, "scripts", "draft", path],
    queryFn: async ({ signal }) => {
      await awaitSaves({ workspace, kind: "script", path });
      return callOperation("GET /w/{workspace}/scripts/get/draft/{path}", { workspace, path }, signal);
    },
    // The content of the editor must not change while the user edits.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
