/**
 * Transactional outbox for webhooks. Each event is inserted in the transaction of its change, with the ids of the
 * endpoints subscribed at that moment. So rolled-back changes send nothing, committed ones are never lost, and later
 * endpoints do not receive older events. The change pays for one row only. Deliveries, one row per endpoint, are fanned
 * out afterwards in batches.
 */
import { and, asc, eq, getTableColumns, isNotNull, sql, sum } from "drizzle-orm";
import { jsonArrayRows } from "../../../database/conditions.ts";
import { prepareStatement, type Reader, type Tx } from "../../../database/database.ts";
import { dialect } from "../../../database/kit.ts";
import { memoizePerApp } from "../../../lib/async/per-app.ts";
import { createUuid } from "../../../lib/text/ids.ts";
import type { App } from "../../../platform/app/context.ts";
import type { AuditedChange } from "../../../platform/app/lifecycle.ts";
import { findEvent, type WebhookEvent } from "./event-types.ts";
import { type WebhookDelivery, webhookDeliveries, webhookEndpoints, webhookEvents } from "./tables.ts";

/** Events fanned out in one transaction, which blocks other writers. */
const BATCH_SIZE = 100;

/**
 * The wake-up of the sender: call it for a new event, or with an endpoint that may have something due. A no-op until a
 * sender starts.
 */
export const getWebhookSender = memoizePerApp<App, { wake(endpoint_id?: string): void }>(() => ({
  wake: () => {},
}));

/** Stores the webhook event of an audited change, if it has one. */
export function recordChange(
  app: App,
  tx: Tx,
  { audit, resource, parameters, workspace_id }: AuditedChange,
): Promise<void> | undefined {
  const { operation } = audit;
  const event = findEvent({
    operation,
    workspace_id,
    resource: resource ?? "",
    parameters: parameters ?? {},
  });
  return event && recordEvent(app, tx, workspace_id, event);
}

/** Stores an event if an endpoint of the workspace, or of the instance (`global`), is subscribed to it. */
export function recordEvent(app: App, tx: Tx, workspace_id: string, event: WebhookEvent): Promise<void> {
  return recordEvents(app, tx, workspace_id, [event]);
}

/** Stores those events that have a subscribed endpoint in the workspace or the instance (`global`). */
export async function recordEvents(
  app: App,
  tx: Tx,
  workspace_id: string,
  events: readonly WebhookEvent[],
): Promise<void> {
  const endpoints = await tx.exec(listeningStatement, { workspace_id });
  const wanted = events
    .map((event) => ({ ...event, told: endpoints.filter(({ types }) => acceptsType(types, event.type)) }))
    .filter(({ told }) => told.length > 0);
  if (wanted.length === 0) return;
  for (const { type, keys, told } of wanted) {
    await tx.exec(insertEventStatement, {
      id: createUuid(),
      workspace_id,
      type,
      payload: JSON.stringify({ type, ...keys }),
      created_at: app.clock(),
      told: told.map(({ id }) => id),
    });
  }
  tx.afterCommit(() => getWebhookSender(app).wake());
}

/** Whether any endpoint of the workspace subscribes to events; check it before recording many of them one by one. */
export async function hasListeners(db: Reader, workspace_id: string): Promise<boolean> {
  return (await db.exec(listeningStatement, { workspace_id })).length > 0;
}

/**
 * Fans out the oldest pending events: creates one delivery per event and endpoint.
 * @returns the endpoints with new deliveries, and whether more events are pending
 */
export async function fanOutEvents({ db }: App): Promise<{ endpoints: Set<string>; more: boolean }> {
  const [any] = await listPendingEvents(db.read, 1);
  if (!any) return { endpoints: new Set(), more: false };
  return db.write(async (tx) => {
    // One server at a time, so that deliveries are created in the order of events.
    await tx.lock("webhook events");
    const events = await listPendingEvents(tx, BATCH_SIZE);
    const seqs = JSON.stringify(events.map(({ seq }) => seq));
    await tx.exec(insertDeliveriesStatement, { seqs });
    await tx.exec(markFannedOutStatement, { seqs });
    const endpoints = new Set(events.flatMap(({ told }) => told ?? []));
    return { endpoints, more: events.length === BATCH_SIZE };
  });
}

/**
 * Counts the deliveries of events that were not fanned out yet.
 * @returns the number of deliveries still to be created
 */
export async function countPendingFanOut(db: Reader): Promise<number> {
  const { told } = webhookEvents;
  const length =
    dialect === "postgres" ? sql`json_array_length(${told}::json)` : sql`json_array_length(${told})`;
  const [row] = await db
    .select({ value: sum(length) })
    .from(webhookEvents)
    .where(isNotNull(told));
  return Number(row?.value ?? 0);
}

/** Lists the events without deliveries, oldest first. */
function listPendingEvents(db: Reader, maximum: number) {
  return db
    .select({ seq: webhookEvents.seq, told: webhookEvents.told })
    .from(webhookEvents)
    .where(isNotNull(webhookEvents.told))
    .orderBy(asc(webhookEvents.seq))
    .limit(maximum);
}

/**
 * Whether an endpoint subscribes to events of a type.
 * @param types stored JSON text of the subscribed types; null: all
 */
function acceptsType(types: string | null, type: string): boolean {
  return types === null || (JSON.parse(types) as string[]).includes(type);
}

const namedParameter = sql.placeholder;

const listeningStatement = prepareStatement<{ workspace_id: string }, { id: string; types: string | null }[]>(
  (q) =>
    q
      .select({ id: webhookEndpoints.id, types: sql<string | null>`${webhookEndpoints.types}` })
      .from(webhookEndpoints)
      .where(
        and(
          eq(webhookEndpoints.workspace_id, namedParameter("workspace_id")),
          eq(webhookEndpoints.enabled, true),
        ),
      ),
);

const insertEventStatement = prepareStatement<Omit<typeof webhookEvents.$inferSelect, "seq">, unknown>((q) =>
  q.insert(webhookEvents).values({
    id: namedParameter("id"),
    workspace_id: namedParameter("workspace_id"),
    type: namedParameter("type"),
    payload: namedParameter("payload"),
    created_at: namedParameter("created_at") as never,
    told: namedParameter("told") as never,
  }),
);

/** Condition: the event is in the JSON array `seqs`. */
const isInSeqs = sql`${webhookEvents.seq} IN (SELECT CAST(named.value AS bigint) FROM ${jsonArrayRows(namedParameter("seqs"), "named")})`;

const insertDeliveriesStatement = prepareStatement<{ seqs: string }, unknown>((q) => {
  const values = {
    endpoint_id: sql`whom.value`,
    event_seq: webhookEvents.seq,
    state: sql`'pending'`,
    attempts: sql`0`,
    next_at: webhookEvents.created_at,
    status: sql`NULL`,
    error: sql`NULL`,
    last_attempt_at: sql`NULL`,
  } satisfies Record<keyof WebhookDelivery, unknown>;
  const names = Object.keys(getTableColumns(webhookDeliveries)) as (keyof WebhookDelivery)[];
  const row = sql.join(
    names.map((name) => sql`${values[name]}`),
    sql`, `,
  );
  return q
    .insert(webhookDeliveries)
    .select(
      sql`SELECT ${row} FROM ${webhookEvents} CROSS JOIN ${jsonArrayRows(webhookEvents.told, "whom")} WHERE ${isInSeqs}`,
    );
});

const markFannedOutStatement = prepareStatement<{ seqs: string }, unknown>((q) =>
  q.update(webhookEvents).set({ told: null }).where(isInSeqs),
);
