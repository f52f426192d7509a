import { kit, sql } from "../../../database/kit.ts";

const { table, text, integer, boolean, timestamp, json, serial, index, primaryKey } = kit;

/** Who is told of what happens in a workspace. */
export const webhookEndpoints = table(
  "webhook_endpoints",
  {
    id: text("id").primaryKey(),
    /** `global`: what happens on the whole instance. */
    workspace_id: text("workspace_id").notNull(),
    url: text("url").notNull(),
    description: text("description").notNull(),
    /** Event types that are sent; null: all. */
    types: json<string[]>("types"),
    /** The one that the workspace's settings name. */
    is_workspace_webhook: boolean("is_workspace_webhook").notNull(),
    enabled: boolean("enabled").notNull(),
    /** Signs what is sent; encrypted. */
    secret: text("secret").notNull(),
    /** The one before, which signs too until then. */
    previous_secret: text("previous_secret"),
    previous_secret_until: timestamp("previous_secret_until"),
    created_by: text("created_by").notNull(),
    created_at: timestamp("created_at").notNull(),
    /** When the first of the deliveries failed that have failed since the last one arrived. */
    failing_since: timestamp("failing_since"),
  },
  (t) => [index("webhook_endpoints_by_workspace").on(t.workspace_id)],
);

/** What has happened, stored in the transaction that made it happen. */
export const webhookEvents = table(
  "webhook_events",
  {
    /** The order in which they happened. */
    seq: serial("seq"),
    id: text("id").notNull(),
    workspace_id: text("workspace_id").notNull(),
    type: text("type").notNull(),
    /** The body as it is sent, JSON text. */
    payload: text("payload").notNull(),
    created_at: timestamp("created_at").notNull(),
    /** The endpoints that listened then, until each has its delivery; null from then on. */
    told: json<string[]>("told"),
  },
  (t) => [index("webhook_events_new").on(t.seq).where(sql`told IS NOT NULL`)],
);

/** One row an event and an endpoint that is told of it. */
export const webhookDeliveries = table(
  "webhook_deliveries",
  {
    endpoint_id: text("endpoint_id").notNull(),
    event_seq: integer("event_seq").notNull(),
    state: text("state").$type<"pending" | "delivered" | "failed">().notNull(),
    attempts: integer("attempts").notNull(),
    /** When it is tried next, or when another server may take it from the one that tries it now. */
    next_at: timestamp("next_at").notNull(),
    /** HTTP status of the last answer; null where there was none. */
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
