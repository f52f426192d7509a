/**
 * The outbox: an event is stored in the transaction of the change it tells of, with the endpoints that listen then. So
 * what was rolled back is never sent, what was committed is never forgotten, and who begins to listen later is not told
 * of it. The change waits for this one row; the deliveries, a row for each endpoint, are made of it soon after, for many
 * events together.
 */
import { and, asc, eq, getTableColumns, isNotNull, sql, sum } from "drizzle-orm";
import { textsOf } from "../../../database/conditions.ts";
import { type Reader, statement, type Tx } from "../../../database/database.ts";
import { dialect } from "../../../database/kit.ts";
import { perApp } from "../../../lib/async/per-app.ts";
import { newJobId } from "../../../lib/text/ids.ts";
import type { App } from "../../../platform/app/context.ts";
import type { AuditedChange } from "../../../platform/app/lifecycle.ts";
import { eventOf, type ToldEvent } from "./event-types.ts";
import { type WebhookDelivery, webhookDeliveries, webhookEndpoints, webhookEvents } from "./tables.ts";

/** Most events of which deliveries are made in one transaction: whoever else writes waits for it. */
const MOST_AT_ONCE = 100;

/** Called when there is a new event, or something may be due for the endpoint named; set by the sender where there is one. */
export const senderOf = perApp<App, { wake(endpoint_id?: string): void }>(() => ({ wake: () => {} }));

/** Stores the event that an audited change is, if it is one. */
export async function recordChange(
  app: App,
  tx: Tx,
  { audit, resource, parameters, workspace_id }: AuditedChange,
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
  await tx.exec(insertEvent, {
    id: newJobId(),
    workspace_id,
    type,
    payload: JSON.stringify({ type, ...keys }),
    created_at: app.clock(),
    told: told.map(({ id }) => id),
  });
  tx.afterCommit(() => senderOf(app).wake());
}

/**
 * Makes the deliveries of the oldest new events.
 * @returns the endpoints that have something to be sent, and whether there are more new events
 */
export async function makeDeliveries({ db }: App): Promise<{ endpoints: Set<string>; more: boolean }> {
  const [any] = await newEvents(db.read, 1);
  if (!any) return { endpoints: new Set(), more: false };
  return db.write(async (tx) => {
    // Of several servers one at a time, so that they come about in the order of the events.
    await tx.lock("webhook events");
    const events = await newEvents(tx, MOST_AT_ONCE);
    const seqs = JSON.stringify(events.map(({ seq }) => seq));
    await tx.exec(insertDeliveries, { seqs });
    await tx.exec(markTold, { seqs });
    const endpoints = new Set(events.flatMap(({ told }) => told ?? []));
    return { endpoints, more: events.length === MOST_AT_ONCE };
  });
}

/** @returns how many deliveries are still to be made */
export async function countUnmade(db: Reader): Promise<number> {
  const { told } = webhookEvents;
  const length =
    dialect === "postgres" ? sql`json_array_length(${told}::json)` : sql`json_array_length(${told})`;
  const [row] = await db
    .select({ value: sum(length) })
    .from(webhookEvents)
    .where(isNotNull(told));
  return Number(row?.value ?? 0);
}

/** Events of which no deliveries are made yet, in the order in which they happened. */
function newEvents(db: Reader, most: number) {
  return db
    .select({ seq: webhookEvents.seq, told: webhookEvents.told })
    .from(webhookEvents)
    .where(isNotNull(webhookEvents.told))
    .orderBy(asc(webhookEvents.seq))
    .limit(most);
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

const insertEvent = statement<Omit<typeof webhookEvents.$inferSelect, "seq">, unknown>((q) =>
  q.insert(webhookEvents).values({
    id: p("id"),
    workspace_id: p("workspace_id"),
    type: p("type"),
    payload: p("payload"),
    created_at: p("created_at") as never,
    told: p("told") as never,
  }),
);

/** Condition: among those that the JSON array `seqs` names. */
const isNamed = sql`${webhookEvents.seq} IN (SELECT CAST(named.value AS bigint) FROM ${textsOf(p("seqs"), "named")})`;

const insertDeliveries = statement<{ seqs: string }, unknown>((q) => {
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
      sql`SELECT ${row} FROM ${webhookEvents} CROSS JOIN ${textsOf(webhookEvents.told, "whom")} WHERE ${isNamed}`,
    );
});

const markTold = statement<{ seqs: string }, unknown>((q) =>
  q.update(webhookEvents).set({ told: null }).where(isNamed),
);
