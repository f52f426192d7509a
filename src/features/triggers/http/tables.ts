import { tableKit } from "../../../database/kit.ts";
import type { Retry } from "../../../engines/flow-engine/types.ts";
import type { SignatureSettings } from "../../code/scripts/signature-rule.ts";
import type { HTTP_METHODS } from "./methods.ts";

const { table, text, boolean, timestamp, json, primaryKey } = tableKit;

/** The response: `sync` the result, `async` the job's id, `sync_sse` a stream of updates. */
export const REQUEST_TYPES = ["sync", "async", "sync_sse"] as const;
/** Existing tools say `windmill` for `token`. */
export const AUTHENTICATION_METHODS = ["none", "token", "api_key", "basic_http", "signature"] as const;

/** The file, or the key prefix of a website's files. */
export interface StaticAssets {
  s3: string;
  storage?: string | undefined;
  filename?: string | undefined;
}

/** HTTP routes chosen by users, below `/api/r/`. */
export const httpTriggers = table(
  "http_triggers",
  {
    workspace_id: text("workspace_id").notNull(),
    path: text("path").notNull(),
    /** Such as `orders/:id` or `files/*rest`. */
    route_path: text("route_path").notNull(),
    /** The route is below the workspace's id. */
    workspaced_route: boolean("workspaced_route").notNull(),
    http_method: text("http_method").$type<(typeof HTTP_METHODS)[number]>().notNull(),
    /** The script or flow to run; unused by a static route. */
    script_path: text("script_path").notNull(),
    is_flow: boolean("is_flow").notNull(),
    enabled: boolean("enabled").notNull(),
    summary: text("summary"),
    description: text("description"),
    request_type: text("request_type").$type<(typeof REQUEST_TYPES)[number]>().notNull(),
    authentication_method: text("authentication_method")
      .$type<(typeof AUTHENTICATION_METHODS)[number]>()
      .notNull(),
    /** Path of the resource, or `$var:` and the path of the variable, with the callers' secret. */
    authentication_resource_path: text("authentication_resource_path"),
    /** How requests are signed, if required; its secret is the path of a variable. */
    signature: json<SignatureSettings>("signature"),
    raw_string: boolean("raw_string").notNull(),
    wrap_body: boolean("wrap_body").notNull(),
    is_static_website: boolean("is_static_website").notNull(),
    static_asset_config: json<StaticAssets>("static_asset_config"),
    /** Retries of a failed script. */
    retry: json<Retry>("retry"),
    /**
     * Time since when it has its path and method: of two overlapping routes the older one is active. Null: since its
     * last edit.
     */
    placed_at: timestamp("placed_at"),
    /** Unknown fields sent by clients, returned unchanged. */
    extra: json<Record<string, unknown>>("extra"),
    edited_by: text("edited_by").notNull(),
    edited_at: timestamp("edited_at").notNull(),
    /** Email of its last editor: runs have that user's rights. */
    email: text("email").notNull(),
    extra_perms: json<Record<string, boolean>>("extra_perms").notNull(),
  },
  (t) => [primaryKey({ columns: [t.workspace_id, t.path] })],
);

export type HttpTrigger = typeof httpTriggers.$inferSelect;
