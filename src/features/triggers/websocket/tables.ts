import { kit } from "../../../database/kit.ts";

const { table, text, boolean, timestamp, json, primaryKey } = kit;

/** A message passes when it is a JSON object whose `key` contains `value`. */
export interface MessageFilter {
  key: string;
  value: unknown;
}

/** What is sent once a connection is open: a text, or the result of a script or flow. */
export type InitialMessage =
  | { raw_message: string }
  | { runnable_result: { path: string; is_flow: boolean; args: Record<string, unknown> } };

/** Servers elsewhere whose messages start a script or flow. */
export const websocketTriggers = table(
  "websocket_triggers",
  {
    workspace_id: text("workspace_id").notNull(),
    path: text("path").notNull(),
    script_path: text("script_path").notNull(),
    is_flow: boolean("is_flow").notNull(),
    /** `ws://…`, `wss://…`, or `$script:<path>` or `$flow:<path>`, whose result it is. */
    url: text("url").notNull(),
    url_runnable_args: json<Record<string, unknown>>("url_runnable_args"),
    enabled: boolean("enabled").notNull(),
    summary: text("summary"),
    filters: json<MessageFilter[]>("filters").notNull(),
    initial_messages: json<InitialMessage[]>("initial_messages").notNull(),
    /** What a run returns is sent back. */
    can_return_message: boolean("can_return_message").notNull(),
    /** So is the error of one that failed. */
    can_return_error_result: boolean("can_return_error_result").notNull(),
    /** What clients said of it beyond what is known here: given back as it was. */
    extra: json<Record<string, unknown>>("extra"),
    edited_by: text("edited_by").notNull(),
    edited_at: timestamp("edited_at").notNull(),
    /** Whoever edited it last: its runs act as that person. */
    email: text("email").notNull(),
    extra_perms: json<Record<string, boolean>>("extra_perms").notNull(),
    /** Why there is no connection, or why the last message started nothing. */
    error: text("error"),
    /** The server that listens, until `last_server_ping` is too old. */
    server_id: text("server_id"),
    last_server_ping: timestamp("last_server_ping"),
  },
  (t) => [primaryKey({ columns: [t.workspace_id, t.path] })],
);

export type WebsocketTrigger = typeof websocketTriggers.$inferSelect;
