import { tableKit } from "../../../database/kit.ts";

const { table, text, boolean, timestamp, json, serial, index, primaryKey } = tableKit;

/** Kinds of triggers that captures exist for. */
export const CAPTURE_KINDS = ["webhook", "http", "websocket"] as const;
export type CaptureKind = (typeof CAPTURE_KINDS)[number];

/** Active captures: one per script or flow, deployed or not, and kind of trigger. */
export const captureConfigs = table(
  "capture_configs",
  {
    workspace_id: text("workspace_id").notNull(),
    path: text("path").notNull(),
    is_flow: boolean("is_flow").notNull(),
    trigger_kind: text("trigger_kind").$type<CaptureKind>().notNull(),
    /** The trigger's settings as the client sent them, such as `route_path`. */
    trigger_config: json<unknown>("trigger_config"),
    edited_by: text("edited_by").notNull(),
    /** Requests are captured for a limited time after it. */
    last_client_ping: timestamp("last_client_ping").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.workspace_id, t.path, t.is_flow, t.trigger_kind] }),
    index("capture_configs_by_ping").on(t.last_client_ping),
  ],
);

/** Captured requests and messages, as the resulting arguments. */
export const captures = table(
  "captures",
  {
    id: serial("id"),
    workspace_id: text("workspace_id").notNull(),
    path: text("path").notNull(),
    is_flow: boolean("is_flow").notNull(),
    trigger_kind: text("trigger_kind").$type<CaptureKind>().notNull(),
    /** JSON text: arguments of the script or flow. */
    main_args: text("main_args").notNull(),
    /** JSON text: arguments of a preprocessor, with the headers and the payload as sent. */
    preprocessor_args: text("preprocessor_args").notNull(),
    created_at: timestamp("created_at").notNull(),
  },
  (t) => [
    index("captures_by_runnable").on(t.workspace_id, t.path, t.is_flow, t.id),
    index("captures_by_time").on(t.created_at),
  ],
);

export type CaptureConfig = typeof captureConfigs.$inferSelect;
export type Capture = typeof captures.$inferSelect;
