import { sql, tableKit } from "../../../database/kit.ts";
import type { ParameterBinding } from "../../../engines/languages/types.ts";
import type { SignatureSettings } from "./signature-rule.ts";

const { table, text, integer, boolean, timestamp, json, serial, index, primaryKey, uniqueIndex } = tableKit;

/** The exact version of another script that a version imports. */
export interface PinnedImport {
  path: string;
  hash: string;
}

/** One row per version. Content is immutable; `lock` is null until dependencies are resolved. */
export const scripts = table(
  "scripts",
  {
    /** Increases with every version, in the order of deployment. */
    seq: serial("seq"),
    workspace_id: text("workspace_id").notNull(),
    /** 16 hexadecimal digits. */
    hash: text("hash").notNull(),
    path: text("path").notNull(),
    /** Hashes of the ancestors, nearest first. */
    parent_hashes: json<string[]>("parent_hashes").notNull(),
    summary: text("summary").notNull(),
    description: text("description").notNull(),
    content: text("content").notNull(),
    schema: json<unknown>("schema").notNull(),
    /** How `main` takes its arguments, for the script process. */
    parameters: json<ParameterBinding[]>("parameters").notNull(),
    language: text("language").notNull(),
    kind: text("kind").notNull(),
    is_template: boolean("is_template").notNull(),
    lock: text("lock"),
    lock_error_logs: text("lock_error_logs"),
    /** All imported scripts, transitive ones included; null for none. */
    imports: json<PinnedImport[]>("imports"),
    /** False while dependencies are being resolved, or if that failed; `p/` then runs the previous version. */
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
    /** Memory limit of a run, in MB; null: the server's default. */
    memory_mb: integer("memory_mb"),
    /** Whether calls are rejected if their arguments do not match `schema`. */
    validate: boolean("validate").notNull().default(false),
    no_main_func: boolean("no_main_func").notNull(),
    has_preprocessor: boolean("has_preprocessor").notNull(),
    /** How `preprocessor` takes its arguments: the whole event, or arguments by name. */
    preprocessor_parameters: json<ParameterBinding[]>("preprocessor_parameters"),
    /** How requests to its webhooks must be signed; null: no signature needed. */
    signature: json<SignatureSettings>("signature"),
    on_behalf_of_email: text("on_behalf_of_email"),
    /** Digest of the client's code that was bundled with the script. */
    codebase: text("codebase"),
    /** The bundle that runs instead of the content. */
    bundle: text("bundle"),
    /**
     * Fields that clients sent and this version does not know, and a lock that this version cannot install from.
     * Returned unchanged; see `unknown-fields.ts`.
     */
    extra: json<Record<string, unknown>>("extra"),
    deployment_message: text("deployment_message"),
    created_by: text("created_by").notNull(),
    created_at: timestamp("created_at").notNull(),
    archived: boolean("archived").notNull(),
    deleted: boolean("deleted").notNull(),
    /** A draft at a path without a deployed version; it cannot be run. */
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

/** Imports of the newest versions, missing scripts included; indexed to find importers. */
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
