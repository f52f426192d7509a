import { tableKit } from "../../../database/kit.ts";
import type { Retry } from "../../../engines/flow-engine/types.ts";

const { table, text, boolean, timestamp, json, primaryKey } = tableKit;

/** A filter: a message matches if it is a JSON object whose `key` contains `value`. */
export interface MessageFilter {
  key: string;
  value: unknown;
}

/** A message sent when a connection opens: a text, or the result of a script or flow. */
export type InitialMessage =
  | { raw_message: string }
  | { runnable_result: { path: string; is_flow: boolean; args: Record<string, unknown> } };

/** WebSocket servers elsewhere whose messages start a script or flow. */
export const websocketTriggers = table(
  "websocket_triggers",
  {
    workspace_id: text("workspace_id").notNull(),
    path: text("path").notNull(),
    script_path: text("script_path").notNull(),
    is_flow: boolean("is_flow").notNull(),
    /** `ws://…`, `wss://…`, or `$script:<path>` or `$flow:<path>`, whose result is the URL. */
    url: text("url").notNull(),
    url_runnable_args: json<Record<string, unknown>>("url_runnable_args"),
    enabled: boolean("enabled").notNull(),
    summary: text("summary"),
    filters: json<MessageFilter[]>("filters").notNull(),
    initial_messages: json<InitialMessage[]>("initial_messages").notNull(),
    /** Sends the result of a run back. */
    can_return_message: boolean("can_return_message").notNull(),
    /** Sends the error of a failed run back. */
    can_return_error_result: boolean("can_return_error_result").notNull(),
    /** Retries of a failed script. */
    retry: json<Retry>("retry"),
    /** Unknown fields sent by clients, returned unchanged. */
    extra: json<Record<string, unknown>>("extra"),
    edited_by: text("edited_by").notNull(),
    edited_at: timestamp("edited_at").notNull(),
    /** Email of its last editor: runs have that user's rights. */
    email: text("email").notNull(),
    extra_perms: json<Record<string, boolean>>("extra_perms").notNull(),
    /** Why there is no connection, or why the last message started no job. */
    error: text("error"),
    /** The server that holds the lease, until `last_server_ping` is too old. */
    server_id: text("server_id"),
    last_server_ping: timestamp("last_server_ping"),
  },
  (t) => [primaryKey({ columns: [t.workspace_id, t.path] })],
);

export type WebsocketTrigger = typeof websocketTriggers.$inferSelect;
