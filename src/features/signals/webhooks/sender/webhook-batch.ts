/** Reads the due deliveries of an endpoint, and stores their outcomes. */
import { and, asc, eq, exists, inArray, lte, sql } from "drizzle-orm";
import { prepareStatement, type Tx } from "../../../../database/database.ts";
import type { App } from "../../../../platform/app/context.ts";
import { raiseAlertInTransaction } from "../../alerts/service.ts";
import { computeNextAttempt, type DeliveryOutcome } from "../deliveries.ts";
import { getUrlHost } from "../endpoints.ts";
import { INSTANCE_WORKSPACE } from "../event-types.ts";
import {
  type WebhookDelivery,
  type WebhookEndpoint,
  webhookDeliveries,
  webhookEndpoints,
  webhookEvents,
} from "../tables.ts";

/** With more deliveries waiting than this, the receiver does not keep up, and they are sent out of order. */
const MAX_ORDERED = 100;
const MAX_BATCH = 16;
/** Lease on a delivery; longer than an attempt can take. */
const LEASE_MS = 30_000;

export interface DueDelivery {
  seq: number;
  id: string;
  payload: string;
  created_at: Date;
  attempts: number;
}

export interface DeliveryBatch {
  endpoint: WebhookEndpoint;
  /** Sorted by event. */
  due: DueDelivery[];
  /** True if each is sent only after the one before; otherwise all are sent at once. */
  in_order: boolean;
}

// The partial index is used only for a literal condition.
export const isPending = sql`${webhookDeliveries.state} = 'pending'`;

const isPendingOf = (endpoint_id: string) => and(eq(webhookDeliveries.endpoint_id, endpoint_id), isPending);

/**
 * Finds the deliveries to send now.
 * @param many false limits it to one delivery, for a failing receiver
 * @returns undefined if nothing is due, or the endpoint is disabled or deleted
 */
export async function findDueBatch(
  app: App,
  endpoint_id: string,
  many: boolean,
): Promise<DeliveryBatch | undefined> {
  const { db } = app;
  const [endpoint] = await db.read
    .select()
    .from(webhookEndpoints)
    .where(eq(webhookEndpoints.id, endpoint_id));
  if (!endpoint?.enabled) {
    await db.write((tx) => (endpoint ? failPending(tx, endpoint_id) : deleteDeliveries(tx, endpoint_id)));
    return undefined;
  }
  const found = await db.read
    .select({ seq: webhookDeliveries.event_seq })
    .from(webhookDeliveries)
    .where(and(isPendingOf(endpoint_id), lte(webhookDeliveries.next_at, app.clock())))
    .orderBy(asc(webhookDeliveries.next_at), asc(webhookDeliveries.event_seq))
    .limit(MAX_ORDERED + 1);
  if (found.length === 0) return undefined;
  const in_order = found.length <= MAX_ORDERED;
  // A receiver that keeps up gets its events in their order, even if clocks of servers differ.
  const seqs = found.map(({ seq }) => seq);
  if (in_order) seqs.sort((a, b) => a - b);
  const due = await db.read
    .select({
      seq: webhookEvents.seq,
      id: webhookEvents.id,
      payload: webhookEvents.payload,
      created_at: webhookEvents.created_at,
      attempts: webhookDeliveries.attempts,
    })
    .from(webhookEvents)
    .innerJoin(webhookDeliveries, eq(webhookDeliveries.event_seq, webhookEvents.seq))
    .where(
      and(
        inArray(webhookEvents.seq, seqs.slice(0, many ? MAX_BATCH : 1)),
        eq(webhookDeliveries.endpoint_id, endpoint_id),
      ),
    )
    .orderBy(asc(webhookEvents.seq));
  return { endpoint, due, in_order };
}

/** Returns when the next pending delivery is due. */
export async function findNextAttempt(app: App, endpoint_id: string): Promise<Date | undefined> {
  const [next] = await app.db.read
    .select({ next_at: webhookDeliveries.next_at })
    .from(webhookDeliveries)
    .where(isPendingOf(endpoint_id))
    .orderBy(asc(webhookDeliveries.next_at))
    .limit(1);
  return next?.next_at;
}

/** Leases deliveries, so that no other server sends them. @returns those this server may send */
export async function leaseDeliveries(
  app: App,
  endpoint_id: string,
  due: DueDelivery[],
): Promise<DueDelivery[]> {
  if (app.db.dialect === "sqlite") return due;
  const now = app.clock();
  const seqs = due.map(({ seq }) => seq);
  const taken = await app.db.write((tx) =>
    tx
      .update(webhookDeliveries)
      .set({ next_at: new Date(now.getTime() + LEASE_MS) })
      .where(
        and(
          isPendingOf(endpoint_id),
          inArray(webhookDeliveries.event_seq, seqs),
          lte(webhookDeliveries.next_at, now),
        ),
      )
      .returning({ seq: webhookDeliveries.event_seq }),
  );
  const ours = new Set(taken.map(({ seq }) => seq));
  return due.filter(({ seq }) => ours.has(seq));
}

/** Marks the pending deliveries of a disabled endpoint as failed, so that they can be redelivered on request. */
async function failPending(tx: Tx, endpoint_id: string): Promise<void> {
  const off = tx
    .select({ id: webhookEndpoints.id })
    .from(webhookEndpoints)
    .where(and(eq(webhookEndpoints.id, endpoint_id), eq(webhookEndpoints.enabled, false)));
  await tx
    .update(webhookDeliveries)
    .set({ state: "failed", error: "the endpoint was switched off" })
    .where(and(isPendingOf(endpoint_id), exists(off)));
}

/** Deletes deliveries that were inserted while their endpoint was being deleted. */
async function deleteDeliveries(tx: Tx, endpoint_id: string): Promise<void> {
  await tx.delete(webhookDeliveries).where(eq(webhookDeliveries.endpoint_id, endpoint_id));
}

/** Stores the outcomes of a batch. @param due in the order of the outcomes */
export async function storeOutcomes(
  app: App,
  endpoint: WebhookEndpoint,
  due: DueDelivery[],
  outcomes: DeliveryOutcome[],
): Promise<void> {
  if (due.length === 0) return;
  const now = app.clock();
  const arrived = outcomes.some(({ ok }) => ok);
  await app.db.write(async (tx) => {
    let givenUp = 0;
    for (const [index, message] of due.entries())
      if ((await storeAttempt(tx, endpoint, message, outcomes[index]!, now)) === "failed") givenUp++;
    if (givenUp > 0) await alertGivenUp(app, tx, endpoint, outcomes);
    const failing_since = arrived ? null : (endpoint.failing_since ?? now);
    if (failing_since?.getTime() === endpoint.failing_since?.getTime()) return;
    await tx.update(webhookEndpoints).set({ failing_since }).where(eq(webhookEndpoints.id, endpoint.id));
  });
}

const namedParameter = sql.placeholder;

const storeOutcomeStatement = prepareStatement<WebhookDelivery, unknown>((q) =>
  q
    .update(webhookDeliveries)
    .set({
      state: namedParameter("state") as never,
      attempts: namedParameter("attempts") as never,
      status: namedParameter("status") as never,
      error: namedParameter("error") as never,
      last_attempt_at: namedParameter("last_attempt_at") as never,
      next_at: namedParameter("next_at") as never,
    })
    .where(
      and(
        eq(webhookDeliveries.endpoint_id, namedParameter("endpoint_id")),
        eq(webhookDeliveries.event_seq, namedParameter("event_seq")),
      ),
    ),
);

async function storeAttempt(
  tx: Tx,
  endpoint: WebhookEndpoint,
  { seq, attempts, created_at }: DueDelivery,
  outcome: DeliveryOutcome,
  now: Date,
): Promise<WebhookDelivery["state"]> {
  const next = outcome.ok
    ? undefined
    : computeNextAttempt({ attempts: attempts + 1, created_at, now }, outcome);
  const state = outcome.ok ? "delivered" : next ? "pending" : "failed";
  await tx.exec(storeOutcomeStatement, {
    endpoint_id: endpoint.id,
    event_seq: seq,
    state,
    attempts: attempts + 1,
    status: outcome.status ?? null,
    error: outcome.error ?? null,
    last_attempt_at: now,
    next_at: next ?? now,
  });
  return state;
}

async function alertGivenUp(
  app: App,
  tx: Tx,
  { id, url, workspace_id }: WebhookEndpoint,
  outcomes: DeliveryOutcome[],
): Promise<void> {
  const why = outcomes.find(({ error }) => error !== undefined)?.error ?? "no answer";
  await raiseAlertInTransaction(app, tx, {
    kind: "webhook_dead",
    message: `the webhook endpoint ${id} at ${getUrlHost(url)} took no event for a day (${why}): what was given up is sent again by \`svc webhook redeliver\``,
    subject: id,
    ...(workspace_id === INSTANCE_WORKSPACE ? {} : { workspace_id }),
  });
}
