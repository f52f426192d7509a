/**
 * The outbox: an event is stored in the transaction of the change it tells of, so what was rolled back is never sent,
 * and what was committed is never forgotten. Deliveries, one for each endpoint, are made of it afterwards.
 */
import { and, asc, eq, inArray, sql } from "drizzle-orm";
import type { App } from "../../context.ts";
import { statement, type Tx } from "../../database/database.ts";
import type { Hooks } from "../../http/execute.ts";
import { newJobId } from "../../lib/ids.ts";
import { perApp } from "../../lib/per-app.ts";
import { eventOf, type ToldEvent } from "./event-types.ts";
import { type WebhookEndpoint, webhookDeliveries, webhookEndpoints, webhookEvents } from "./tables.ts";

/** Called when something may be due; set by the sender where there is one. */
export const senderOf = perApp<App, { wake(): void }>(() => ({ wake: () => {} }));

/** Stores the event that an audited change is, if it is one. */
export async function recordChange(
  app: App,
  tx: Tx,
  { audit, resource, parameters, workspace_id }: Parameters<Hooks["recordAudit"]>[1],
): Promise<void> {
  const { operation } = audit;
  const event = eventOf({ operation, workspace_id, resource: resource ?? "", parameters: parameters ?? {} });
  if (event) await recordEvent(app, tx, workspace_id, event);
}

/** Stores an event for whoever in the workspace, or on the instance (`global`), wants to be told. */
export async function recordEvent(
  app: App,
  tx: Tx,
  workspace_id: string,
  { type, keys }: ToldEvent,
): Promise<void> {
  const endpoints = await tx.exec(listening, { workspace_id });
  if (!endpoints.some(({ types }) => types === null || types.includes(type))) return;
  await tx.exec(insertEvent, {
    id: newJobId(),
    workspace_id,
    type,
    payload: JSON.stringify({ type, ...keys }),
    created_at: app.clock(),
  });
  tx.afterCommit(() => senderOf(app).wake());
}

const p = sql.placeholder;

const listening = statement<{ workspace_id: string }, { types: string[] | null }[]>((q) =>
  q
    .select({ types: webhookEndpoints.types })
    .from(webhookEndpoints)
    .where(and(eq(webhookEndpoints.workspace_id, p("workspace_id")), eq(webhookEndpoints.enabled, true))),
);

const insertEvent = statement<
  Pick<typeof webhookEvents.$inferSelect, "id" | "workspace_id" | "type" | "payload" | "created_at">,
  unknown
>((q) =>
  q.insert(webhookEvents).values({
    id: p("id"),
    workspace_id: p("workspace_id"),
    type: p("type"),
    payload: p("payload"),
    created_at: p("created_at") as never,
    fresh: 1,
  }),
);

/** Events that are given deliveries in one transaction. */
const MOST_AT_ONCE = 500;

/**
 * Makes deliveries of events that have none yet, the oldest first. Of several servers one does so at a time.
 * @returns whether there may be more
 */
export async function spreadEvents(app: App): Promise<boolean> {
  // The index serves only a literal condition.
  const isFresh = sql`${webhookEvents.fresh} = 1`;
  const [some] = await app.db.read
    .select({ seq: webhookEvents.seq })
    .from(webhookEvents)
    .where(isFresh)
    .limit(1);
  if (!some) return false;
  return app.db.write(async (tx) => {
    await tx.lock("webhook events");
    const { seq, workspace_id, type, created_at } = webhookEvents;
    const events = await tx
      .select({ seq, workspace_id, type, created_at })
      .from(webhookEvents)
      .where(isFresh)
      .orderBy(asc(webhookEvents.seq))
      .limit(MOST_AT_ONCE);
    if (events.length === 0) return false;
    const endpoints = await tx
      .select()
      .from(webhookEndpoints)
      .where(
        and(
          inArray(webhookEndpoints.workspace_id, [...new Set(events.map((event) => event.workspace_id))]),
          eq(webhookEndpoints.enabled, true),
        ),
      );
    for (const event of events) {
      for (const endpoint of endpoints) {
        if (isTold(endpoint, event)) {
          await tx.exec(insertDelivery, {
            endpoint_id: endpoint.id,
            event_seq: event.seq,
            next_at: event.created_at,
          });
        }
      }
    }
    const seqs = events.map((event) => event.seq);
    await tx.update(webhookEvents).set({ fresh: 0 }).where(inArray(webhookEvents.seq, seqs));
    return events.length === MOST_AT_ONCE;
  });
}

/** Who began to listen after the change is not told of it. */
function isTold(
  endpoint: WebhookEndpoint,
  event: Pick<typeof webhookEvents.$inferSelect, "workspace_id" | "type" | "created_at">,
): boolean {
  return (
    endpoint.workspace_id === event.workspace_id &&
    endpoint.created_at <= event.created_at &&
    (endpoint.types === null || endpoint.types.includes(event.type))
  );
}

const insertDelivery = statement<{ endpoint_id: string; event_seq: number; next_at: Date }, unknown>((q) =>
  q.insert(webhookDeliveries).values({
    endpoint_id: p("endpoint_id"),
    event_seq: p("event_seq"),
    state: "pending",
    attempts: 0,
    next_at: p("next_at") as never,
  }),
);
