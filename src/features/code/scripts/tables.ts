import { kit, sql } from "../../../database/kit.ts";
import type { ParameterBinding } from "../../../engines/languages/types.ts";
import type { SignatureRule } from "./signature-rule.ts";

const { table, text, integer, boolean, timestamp, json, serial, index, primaryKey, uniqueIndex } = kit;

/** A version of another script that a version imports. */
export interface PinnedImport {
  path: string;
  hash: string;
}

/** One row a version. Content never changes once stored; `lock` is null until its dependencies are resolved. */
export const scripts = table(
  "scripts",
  {
    /** Grows with every version: the order of deployment. */
    seq: serial("seq"),
    workspace_id: text("workspace_id").notNull(),
    /** 16 hexadecimal digits. */
    hash: text("hash").notNull(),
    path: text("path").notNull(),
    /** Ancestors, nearest first. */
    parent_hashes: json<string[]>("parent_hashes").notNull(),
    summary: text("summary").notNull(),
    description: text("description").notNull(),
    content: text("content").notNull(),
    schema: json<unknown>("schema").notNull(),
    /** How main's parameters take their values; what a child is given. */
    parameters: json<ParameterBinding[]>("parameters").notNull(),
    language: text("language").notNull(),
    kind: text("kind").notNull(),
    is_template: boolean("is_template").notNull(),
    lock: text("lock"),
    lock_error_logs: text("lock_error_logs"),
    /** The scripts that it imports, through others too; null for none. */
    imports: json<PinnedImport[]>("imports"),
    /** False keeps `p/` on the version before: dependencies are being resolved, or could not be. */
    ready: boolean("ready").notNull(),
    tag: text("tag"),
    envs: json<string[]>("envs").notNull(),
    concurrent_limit: integer("concurrent_limit"),
    concurrency_time_window_s: integer("concurrency_time_window_s"),
    concurrency_key: text("concurrency_key"),
    cache_ttl: integer("cache_ttl"),
    timeout: integer("timeout"),
    priority: integer("priority"),
    delete_after_use: boolean("delete_after_use").notNull(),
    dedicated_worker: boolean("dedicated_worker").notNull(),
    restart_unless_cancelled: boolean("restart_unless_cancelled").notNull(),
    visible_to_runner_only: boolean("visible_to_runner_only").notNull(),
    ws_error_handler_muted: boolean("ws_error_handler_muted").notNull(),
    isolation: text("isolation").$type<"shared" | "fresh">().notNull(),
    /** Most memory a run may take, in MB; null leaves it to the server. */
    memory_mb: integer("memory_mb"),
    no_main_func: boolean("no_main_func").notNull(),
    has_preprocessor: boolean("has_preprocessor").notNull(),
    /** How the function `preprocessor` takes its values: the whole event, or arguments by name. */
    preprocessor_parameters: json<ParameterBinding[]>("preprocessor_parameters"),
    /** How a request to its webhooks must be signed; null asks for no signature. */
    signature: json<SignatureRule>("signature"),
    on_behalf_of_email: text("on_behalf_of_email"),
    /** A digest of the code around it that a client bundled it with. */
    codebase: text("codebase"),
    /** The bundle, which runs in place of the content. */
    bundle: text("bundle"),
    /** What clients said of it beyond what is known here: given back as it was. */
    extra: json<Record<string, unknown>>("extra"),
    deployment_message: text("deployment_message"),
    created_by: text("created_by").notNull(),
    created_at: timestamp("created_at").notNull(),
    archived: boolean("archived").notNull(),
    deleted: boolean("deleted").notNull(),
    /** Kept to be edited: it was never deployed, and nothing runs it. */
    draft_only: boolean("draft_only").notNull().default(false),
    extra_perms: json<Record<string, boolean>>("extra_perms").notNull(),
  },
  (t) => [
    uniqueIndex("scripts_by_hash").on(t.workspace_id, t.hash),
    index("scripts_by_path").on(t.workspace_id, t.path, t.seq),
    index("scripts_by_workspace").on(t.workspace_id, t.seq),
    index("scripts_shared").on(t.workspace_id, t.seq).where(sql`extra_perms <> '{}'`),
  ],
);

/** What the newest versions import, and would import if it were there. Kept for who asks the other way round. */
export const scriptImports = table(
  "script_imports",
  {
    workspace_id: text("workspace_id").notNull(),
    importer_kind: text("importer_kind").$type<"script" | "flow">().notNull(),
    importer_path: text("importer_path").notNull(),
    imported_path: text("imported_path").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.workspace_id, t.importer_kind, t.importer_path, t.imported_path] }),
    index("script_imports_by_imported").on(t.workspace_id, t.imported_path),
  ],
);

export type Script = typeof scripts.$inferSelect;
