import { sql, tableKit } from "../../../database/kit.ts";

const { table, text, integer, boolean, timestamp, json, serial, index, primaryKey } = tableKit;

/** Webhook endpoints: subscribers to a workspace's events. */
export const webhookEndpoints = table(
  "webhook_endpoints",
  {
    id: text("id").primaryKey(),
    /** `global` for the endpoint of instance events. */
    workspace_id: text("workspace_id").notNull(),
    url: text("url").notNull(),
    description: text("description").notNull(),
    /** Subscribed event types; null: all. */
    types: json<string[]>("types"),
    /** True for the webhook in the workspace settings. */
    is_workspace_webhook: boolean("is_workspace_webhook").notNull(),
    enabled: boolean("enabled").notNull(),
    /** Signs messages; stored encrypted. */
    secret: text("secret").notNull(),
    /** The secret before the last rotation; it signs too until `previous_secret_until`. */
    previous_secret: text("previous_secret"),
    previous_secret_until: timestamp("previous_secret_until"),
    created_by: text("created_by").notNull(),
    created_at: timestamp("created_at").notNull(),
    /** Time of the first failure since the last successful delivery. */
    failing_since: timestamp("failing_since"),
  },
  (t) => [index("webhook_endpoints_by_workspace").on(t.workspace_id)],
);

/** Events, inserted in the transaction of the change. */
export const webhookEvents = table(
  "webhook_events",
  {
    /** Ascending in the order of the events. */
    seq: serial("seq"),
    id: text("id").notNull(),
    workspace_id: text("workspace_id").notNull(),
    type: text("type").notNull(),
    /** The JSON text sent as body. */
    payload: text("payload").notNull(),
    created_at: timestamp("created_at").notNull(),
    /** Ids of the subscribed endpoints until deliveries are fanned out; then null. */
    told: json<string[]>("told"),
  },
  (t) => [index("webhook_events_new").on(t.seq).where(sql`told IS NOT NULL`)],
);

/** Deliveries: one row per event and endpoint. */
export const webhookDeliveries = table(
  "webhook_deliveries",
  {
    endpoint_id: text("endpoint_id").notNull(),
    event_seq: integer("event_seq").notNull(),
    state: text("state").$type<"pending" | "delivered" | "failed">().notNull(),
    attempts: integer("attempts").notNull(),
    /** When it is tried next, or when the lease of the server sending it ends. */
    next_at: timestamp("next_at").notNull(),
    /** HTTP status of the last response; null if there was none. */
    status: integer("status"),
    error: text("error"),
    last_attempt_at: timestamp("last_attempt_at"),
  },
  (t) => [
    primaryKey({ columns: [t.endpoint_id, t.event_seq] }),
    index("webhook_deliveries_due").on(t.endpoint_id, t.next_at, t.event_seq).where(sql`state = 'pending'`),
  ],
);

export type WebhookEndpoint = typeof webhookEndpoints.$inferSelect;
export type WebhookDelivery = typeof webhookDeliveries.$inferSelect;
