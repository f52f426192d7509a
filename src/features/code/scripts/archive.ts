/** Scripts in the archive of a workspace: their code and their metadata. */
import { and, asc, eq } from "drizzle-orm";
import { getFileEnding } from "../../../engines/languages/languages.ts";
import type { ZipEntry } from "../../../lib/files/zip.ts";
import { readableBy } from "../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import type { ArchiveOptions, ArchiveSection } from "../../../platform/app/lifecycle.ts";
import { createJsonEntry, omitFalse } from "../../tenancy/rights/archive-entry.ts";
import { isNewestVersion } from "./query-conditions.ts";
import { type Script, scripts } from "./tables.ts";

/** Returns the file ending. The language that is the folder's default (`bun` or `deno`) uses a plain `ts`. */
function scriptFileEnding(language: string, default_ts: "bun" | "deno"): string {
  return language === default_ts ? "ts" : getFileEnding(language);
}

async function listScriptEntries(ctx: WorkspaceContext, { default_ts }: ArchiveOptions): Promise<ZipEntry[]> {
  const { member } = ctx.caller;
  const rows = await ctx.app.db.read
    .select()
    .from(scripts)
    .where(
      and(
        eq(scripts.workspace_id, member.workspace_id),
        eq(scripts.deleted, false),
        eq(scripts.archived, false),
        eq(scripts.draft_only, false),
        isNewestVersion,
        readableBy(member, scripts),
      ),
    )
    .orderBy(asc(scripts.path));
  return rows.flatMap((row) => [
    { name: `${row.path}.${scriptFileEnding(row.language, default_ts)}`, content: row.content },
    createScriptMetadata(row),
  ]);
}

function createScriptMetadata(row: Script): ZipEntry {
  const fields = {
    summary: row.summary,
    description: row.description,
    schema: row.schema,
    lock: row.extra?.lock ?? row.lock,
    kind: row.kind,
    envs: row.envs.length > 0 ? row.envs : undefined,
    concurrent_limit: row.concurrent_limit,
    concurrency_time_window_s: row.concurrency_time_window_s,
    concurrency_key: row.concurrency_key,
    cache_ttl: row.cache_ttl,
    dedicated_worker: omitFalse(row.dedicated_worker),
    ws_error_handler_muted: omitFalse(row.ws_error_handler_muted),
    priority: row.priority,
    tag: row.tag,
    timeout: row.timeout,
    delete_after_use: omitFalse(row.delete_after_use),
    restart_unless_cancelled: omitFalse(row.restart_unless_cancelled),
    visible_to_runner_only: omitFalse(row.visible_to_runner_only),
    no_main_func: omitFalse(row.no_main_func),
    has_preprocessor: omitFalse(row.has_preprocessor),
    on_behalf_of_email: row.on_behalf_of_email,
    isolation: row.isolation === "fresh" ? row.isolation : undefined,
    memory_mb: row.memory_mb ?? undefined,
    validate: omitFalse(row.validate),
    signature: row.signature,
    codebase: row.codebase,
  };
  return createJsonEntry(`${row.path}.script.json`, fields, row.extra);
}

export const scriptSection: ArchiveSection = {
  tables: [scripts],
  domain: "scripts",
  entries: listScriptEntries,
};
