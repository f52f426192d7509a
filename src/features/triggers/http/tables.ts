import { kit } from "../../../database/kit.ts";
import type { Retry } from "../../../engines/flow-engine/types.ts";
import type { SignatureRule } from "../../code/scripts/signature-rule.ts";

const { table, text, boolean, timestamp, json, primaryKey } = kit;

export const HTTP_METHODS = ["get", "post", "put", "delete", "patch"] as const;
/** `sync` answers the result, `async` the job's id, `sync_sse` a stream of updates. */
export const REQUEST_TYPES = ["sync", "async", "sync_sse"] as const;
/** `windmill` is how existing tools spell `token`. */
export const AUTHENTICATION_METHODS = ["none", "token", "api_key", "basic_http", "signature"] as const;

/** A file, or below whose key the files of a website stand. */
export interface StaticAssets {
  s3: string;
  storage?: string | undefined;
  filename?: string | undefined;
}

/** Routes of people's own choosing below `/api/r/`. */
export const httpTriggers = table(
  "http_triggers",
  {
    workspace_id: text("workspace_id").notNull(),
    path: text("path").notNull(),
    /** Such as `orders/:id` or `files/*rest`. */
    route_path: text("route_path").notNull(),
    /** It stands below the workspace's id. */
    workspaced_route: boolean("workspaced_route").notNull(),
    http_method: text("http_method").$type<(typeof HTTP_METHODS)[number]>().notNull(),
    /** The script or flow that runs; of a static route, nothing does. */
    script_path: text("script_path").notNull(),
    is_flow: boolean("is_flow").notNull(),
    enabled: boolean("enabled").notNull(),
    summary: text("summary"),
    description: text("description"),
    request_type: text("request_type").$type<(typeof REQUEST_TYPES)[number]>().notNull(),
    authentication_method: text("authentication_method")
      .$type<(typeof AUTHENTICATION_METHODS)[number]>()
      .notNull(),
    /** The resource, or `$var:` and the variable, that holds what callers must know. */
    authentication_resource_path: text("authentication_resource_path"),
    /** How requests are signed, where that is asked for; its secret is the path of a variable. */
    signature: json<SignatureRule>("signature"),
    raw_string: boolean("raw_string").notNull(),
    wrap_body: boolean("wrap_body").notNull(),
    is_static_website: boolean("is_static_website").notNull(),
    static_asset_config: json<StaticAssets>("static_asset_config"),
    /** How a script is tried again that fails, where nobody waits for its result. */
    retry: json<Retry>("retry"),
    /** Since when it stands at this route: of two that overlap, the older answers. Null: since it was last edited. */
    placed_at: timestamp("placed_at"),
    /** What clients said of it beyond what is known here: given back as it was. */
    extra: json<Record<string, unknown>>("extra"),
    edited_by: text("edited_by").notNull(),
    edited_at: timestamp("edited_at").notNull(),
    /** Whoever edited it last: its runs act as that person. */
    email: text("email").notNull(),
    extra_perms: json<Record<string, boolean>>("extra_perms").notNull(),
  },
  (t) => [primaryKey({ columns: [t.workspace_id, t.path] })],
);

export type HttpTrigger = typeof httpTriggers.$inferSelect;
