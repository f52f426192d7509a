/**
 * The outbox: an event is stored in the transaction of the change it tells of, with a delivery for each endpoint that
 * listens then. So what was rolled back is never sent, what was committed is never forgotten, and who begins to listen
 * later is not told of it.
 */
import { and, eq, sql } from "drizzle-orm";
import type { App } from "../../context.ts";
import { statement, type Tx } from "../../database/database.ts";
import type { Hooks } from "../../http/execute.ts";
import { newJobId } from "../../lib/ids.ts";
import { perApp } from "../../lib/per-app.ts";
import { eventOf, type ToldEvent } from "./event-types.ts";
import { webhookDeliveries, webhookEndpoints, webhookEvents } from "./tables.ts";

/** Called when something may be due for an endpoint; set by the sender where there is one. */
export const senderOf = perApp<App, { wake(endpoint_id: string): void }>(() => ({ wake: () => {} }));

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
  const told = endpoints.filter(({ types }) => takes(types, type));
  if (told.length === 0) return;
  const now = app.clock();
  const [event] = await tx.exec(insertEvent, {
    id: newJobId(),
    workspace_id,
    type,
    payload: JSON.stringify({ type, ...keys }),
    created_at: now,
  });
  for (const { id } of told) {
    await tx.exec(insertDelivery, { endpoint_id: id, event_seq: event!.seq, next_at: now });
    tx.afterCommit(() => senderOf(app).wake(id));
  }
}

/** @param types JSON text of those that are sent, as it is stored; null: all */
function takes(types: string | null, type: string): boolean {
  return types === null || (JSON.parse(types) as string[]).includes(type);
}

const p = sql.placeholder;

const listening = statement<{ workspace_id: string }, { id: string; types: string | null }[]>((q) =>
  q
    .select({ id: webhookEndpoints.id, types: sql<string | null>`${webhookEndpoints.types}` })
    .from(webhookEndpoints)
    .where(and(eq(webhookEndpoints.workspace_id, p("workspace_id")), eq(webhookEndpoints.enabled, true))),
);

const insertEvent = statement<
  Pick<typeof webhookEvents.$inferSelect, "id" | "workspace_id" | "type" | "payload" | "created_at">,
  { seq: number }[]
>((q) =>
  q
    .insert(webhookEvents)
    .values({
      id: p("id"),
      workspace_id: p("workspace_id"),
      type: p("type"),
      payload: p("payload"),
      created_at: p("created_at") as never,
    })
    .returning({ seq: webhookEvents.seq }),
);

const insertDelivery = statement<{ endpoint_id: string; event_seq: number; next_at: Date }, unknown>((q) =>
  q.insert(webhookDeliveries).values({
    endpoint_id: p("endpoint_id"),
    event_seq: p("event_seq"),
    state: "pending",
    attempts: 0,
    next_at: p("next_at") as never,
  }),
);
