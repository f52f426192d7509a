/** Queries of scripts that several pages share. */
import { queryOptions } from "@tanstack/react-query";
import { callOperation, type Input } from "../../api/call.ts";
import type { Script } from "../../api/interface.d.ts";

export type NewScript = Input<"POST /w/{workspace}/scripts/create">["body"];

export const scriptQuery = (workspace: string, path: string) =>
  queryOptions({
    queryKey: [workspace, "scripts", "deployed", path],
    queryFn: ({ signal }) =>
      callOperation("GET /w/{workspace}/scripts/get/p/{path}", { workspace, path }, signal),
  });

/** Loads a version of a script, which never changes. */
export const scriptVersionQuery = (workspace: string, hash: string) =>
  queryOptions({
    queryKey: [workspace, "scripts", "version", hash],
    queryFn: ({ signal }) =>
      callOperation("GET /w/{workspace}/scripts/get/h/{hash}", { workspace, hash }, signal),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Returns the fields that are stored with a script's code, as the next version sends them. */
export function toNewScript(script: Script): NewScript {
  const {
    workspace_id: _workspace,
    hash,
    parent_hashes: _parents,
    lock_error_logs: _logs,
    imports: _imports,
    created_by: _by,
    created_at: _at,
    archived: _archived,
    deleted: _deleted,
    draft_only: _draft,
    extra_perms: _rights,
    starred: _starred,
    lock: _lock,
    codebase: _codebase,
    ...kept
  } = script;
  return { ...kept, parent_hash: hash, schema: kept.schema as NewScript["schema"] } as NewScript;
}
