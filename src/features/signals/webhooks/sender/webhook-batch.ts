/** What an endpoint is to be sent now, and what is stored of how it went. */
import { and, asc, eq, exists, inArray, lte, sql } from "drizzle-orm";
import { statement, type Tx } from "../../../../database/database.ts";
import type { App } from "../../../../platform/app/context.ts";
import { raiseAlertWith } from "../../alerts/service.ts";
import { nextTry, type Outcome } from "../deliveries.ts";
import { hostOf } from "../endpoints.ts";
import { INSTANCE } from "../event-types.ts";
import {
  type WebhookDelivery,
  type WebhookEndpoint,
  webhookDeliveries,
  webhookEndpoints,
  webhookEvents,
} from "../tables.ts";

/** With more than this many waiting, a receiver does not keep up, and order gives way. */
const MANY = 100;
const MOST = 16;
/** Longer than an attempt can take: until then no other server sends what this one has taken. */
const LEASE_MS = 30_000;

export interface Due {
  seq: number;
  id: string;
  payload: string;
  created_at: Date;
  attempts: number;
}

export interface Batch {
  endpoint: WebhookEndpoint;
  /** In the order in which they happened. */
  due: Due[];
  /** Whether each waits for the one before; else all may be sent at once. */
  in_order: boolean;
}

// The index serves only a literal condition.
export const isPending = sql`${webhookDeliveries.state} = 'pending'`;

const itsPending = (endpoint_id: string) => and(eq(webhookDeliveries.endpoint_id, endpoint_id), isPending);

/**
 * @param many false: one alone, of a receiver that fails
 * @returns what to send now; undefined when nothing is due, or nobody is to be told any more
 */
export async function dueBatch(app: App, endpoint_id: string, many: boolean): Promise<Batch | undefined> {
  const { db } = app;
  const [endpoint] = await db.read
    .select()
    .from(webhookEndpoints)
    .where(eq(webhookEndpoints.id, endpoint_id));
  if (!endpoint?.enabled) {
    await db.write((tx) => (endpoint ? leave(tx, endpoint_id) : forget(tx, endpoint_id)));
    return undefined;
  }
  const found = await db.read
    .select({ seq: webhookDeliveries.event_seq })
    .from(webhookDeliveries)
    .where(and(itsPending(endpoint_id), lte(webhookDeliveries.next_at, app.clock())))
    .orderBy(asc(webhookDeliveries.next_at), asc(webhookDeliveries.event_seq))
    .limit(MANY + 1);
  if (found.length === 0) return undefined;
  const in_order = found.length <= MANY;
  // Who keeps up is sent all that is due: of these the oldest events go first, whatever the clocks of servers said.
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
        inArray(webhookEvents.seq, seqs.slice(0, many ? MOST : 1)),
        eq(webhookDeliveries.endpoint_id, endpoint_id),
      ),
    )
    .orderBy(asc(webhookEvents.seq));
  return { endpoint, due, in_order };
}

/** When the first of what waits is due. */
export async function nextDue(app: App, endpoint_id: string): Promise<Date | undefined> {
  const [next] = await app.db.read
    .select({ next_at: webhookDeliveries.next_at })
    .from(webhookDeliveries)
    .where(itsPending(endpoint_id))
    .orderBy(asc(webhookDeliveries.next_at))
    .limit(1);
  return next?.next_at;
}

/** Of several servers one has a delivery at a time. @returns those that this one has now */
export async function leaseUntilTold(app: App, endpoint_id: string, due: Due[]): Promise<Due[]> {
  if (app.db.dialect === "sqlite") return due;
  const now = app.clock();
  const seqs = due.map(({ seq }) => seq);
  const taken = await app.db.write((tx) =>
    tx
      .update(webhookDeliveries)
      .set({ next_at: new Date(now.getTime() + LEASE_MS) })
      .where(
        and(
          itsPending(endpoint_id),
          inArray(webhookDeliveries.event_seq, seqs),
          lte(webhookDeliveries.next_at, now),
        ),
      )
      .returning({ seq: webhookDeliveries.event_seq }),
  );
  const ours = new Set(taken.map(({ seq }) => seq));
  return due.filter(({ seq }) => ours.has(seq));
}

/** Nobody is told: what waits is kept for when somebody asks for it again, unless it was switched on meanwhile. */
async function leave(tx: Tx, endpoint_id: string): Promise<void> {
  const off = tx
    .select({ id: webhookEndpoints.id })
    .from(webhookEndpoints)
    .where(and(eq(webhookEndpoints.id, endpoint_id), eq(webhookEndpoints.enabled, false)));
  await tx
    .update(webhookDeliveries)
    .set({ state: "failed", error: "the endpoint was switched off" })
    .where(and(itsPending(endpoint_id), exists(off)));
}

/** The endpoint is gone: whatever was stored for it while it was removed goes too. */
async function forget(tx: Tx, endpoint_id: string): Promise<void> {
  await tx.delete(webhookDeliveries).where(eq(webhookDeliveries.endpoint_id, endpoint_id));
}

/** @param due in the order of the outcomes */
export async function storeOutcomes(
  app: App,
  endpoint: WebhookEndpoint,
  due: Due[],
  outcomes: Outcome[],
): Promise<void> {
  if (due.length === 0) return;
  const now = app.clock();
  const arrived = outcomes.some(({ ok }) => ok);
  await app.db.write(async (tx) => {
    let givenUp = 0;
    for (const [index, message] of due.entries())
      if ((await storeOne(tx, endpoint, message, outcomes[index]!, now)) === "failed") givenUp++;
    if (givenUp > 0) await raiseGivenUp(app, tx, endpoint, outcomes);
    const failing_since = arrived ? null : (endpoint.failing_since ?? now);
    if (failing_since?.getTime() === endpoint.failing_since?.getTime()) return;
    await tx.update(webhookEndpoints).set({ failing_since }).where(eq(webhookEndpoints.id, endpoint.id));
  });
}

const p = sql.placeholder;

const storeOutcome = statement<WebhookDelivery, unknown>((q) =>
  q
    .update(webhookDeliveries)
    .set({
      state: p("state") as never,
      attempts: p("attempts") as never,
      status: p("status") as never,
      error: p("error") as never,
      last_attempt_at: p("last_attempt_at") as never,
      next_at: p("next_at") as never,
    })
    .where(
      and(
        eq(webhookDeliveries.endpoint_id, p("endpoint_id")),
        eq(webhookDeliveries.event_seq, p("event_seq")),
      ),
    ),
);

async function storeOne(
  tx: Tx,
  endpoint: WebhookEndpoint,
  { seq, attempts, created_at }: Due,
  outcome: Outcome,
  now: Date,
): Promise<WebhookDelivery["state"]> {
  const next = outcome.ok ? undefined : nextTry({ attempts: attempts + 1, created_at, now }, outcome);
  const state = outcome.ok ? "delivered" : next ? "pending" : "failed";
  await tx.exec(storeOutcome, {
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

async function raiseGivenUp(
  app: App,
  tx: Tx,
  { id, url, workspace_id }: WebhookEndpoint,
  outcomes: Outcome[],
): Promise<void> {
  const why = outcomes.find(({ error }) => error !== undefined)?.error ?? "no answer";
  await raiseAlertWith(app, tx, {
    kind: "webhook_dead",
    message: `the webhook endpoint ${id} at ${hostOf(url)} took no event for a day (${why}): what was given up is sent again by \`svc webhook redeliver\``,
    subject: id,
    ...(workspace_id === INSTANCE ? {} : { workspace_id }),
  });
}
