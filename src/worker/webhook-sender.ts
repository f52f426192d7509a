/**
 * Delivers events to webhook endpoints. Each endpoint has a lane of its own, so that one which is slow or down holds up
 * no other: while it keeps up it is sent one event after the other, in order; with many waiting, several at once; and
 * while it fails, fewer and fewer. Every outcome is stored before the next look: an event may arrive twice, never not.
 */
import { and, asc, eq, gt, inArray, lte, type SQL, sql } from "drizzle-orm";
import type { App } from "../context.ts";
import { statement, type Tx } from "../database/database.ts";
import { raiseAlertWith } from "../features/alerts/service.ts";
import { nextTry, type Outcome, sendMessage } from "../features/webhooks/deliveries.ts";
import { hostOf } from "../features/webhooks/endpoints.ts";
import { INSTANCE } from "../features/webhooks/event-types.ts";
import { senderOf, spreadEvents } from "../features/webhooks/outbox.ts";
import {
  type WebhookDelivery,
  type WebhookEndpoint,
  webhookDeliveries,
  webhookEndpoints,
  webhookEvents,
} from "../features/webhooks/tables.ts";
import { pause } from "../lib/pause.ts";

/** With more than this many waiting, a receiver does not keep up, and order gives way. */
const MANY = 100;
const AT_ONCE = 16;
/** Longer than an attempt can take: until then no other server sends what this one has taken. */
const LEASE_MS = 30_000;
/** Another server may have stored an event, or be gone with what it had taken. */
const POSTGRES_POLL_MS = 5_000;
const LONGEST_TIMER_MS = 3_600_000;
/** After so many failures in a row an endpoint is asked once in a while only. */
const PATIENT_FAILURES = 10;
const LONGEST_PAUSE_MS = 30_000;
const AFTER_FAULT_MS = 1_000;

/** Changes of so long are looked at together. */
const SOON_MS = 20;
/** The thread that sends serves requests as well: while it has others to serve, these come first. */
const BUSY_MS = 0.5;
const BUSY_PAUSE_MS = 100;

/** The more failures in a row, the longer. */
function pauseAfter(failures: number): number {
  return Math.min(1_000 * 2 ** Math.floor((failures - PATIENT_FAILURES) / 2), LONGEST_PAUSE_MS);
}

/** Whether there is much else for the thread to do: then its turn takes long to come again. */
async function isBusy(): Promise<boolean> {
  const began = performance.now();
  await pause();
  return performance.now() - began > BUSY_MS;
}

interface Due {
  seq: number;
  id: string;
  payload: string;
  created_at: Date;
  attempts: number;
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

export function createWebhookSender(app: App): { start(): void; stop(): Promise<void> } {
  const { db } = app;
  const lanes = new Map<string, Promise<void>>();
  const resting = new Set<() => void>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let soon: ReturnType<typeof setTimeout> | undefined;
  let poll: ReturnType<typeof setInterval> | undefined;
  let looking: Promise<void> | undefined;
  let again = false;
  let stopping = false;

  // The index serves only a literal condition.
  const isPending = sql`${webhookDeliveries.state} = 'pending'`;
  const isDue = (now = app.clock()): SQL => and(isPending, lte(webhookDeliveries.next_at, now))!;

  /** Many changes come one after the other: they are looked at together. */
  function wakeSoon(): void {
    if (stopping) return;
    soon ??= setTimeout(() => {
      soon = undefined;
      wake();
    }, SOON_MS);
  }

  function wake(): void {
    if (stopping) return;
    again = true;
    looking ??= look()
      .catch((cause) => {
        app.log.error({ error: String(cause) }, "webhook deliveries could not be looked for");
        wakeIn(AFTER_FAULT_MS);
      })
      .finally(() => {
        looking = undefined;
        if (again) wake();
      });
  }

  function wakeIn(ms: number): void {
    clearTimeout(timer);
    timer = setTimeout(wake, Math.min(Math.max(ms, 0), LONGEST_TIMER_MS));
  }

  async function look(): Promise<void> {
    again = false;
    while (await spreadEvents(app)) await pause();
    // What becomes due while this looks is found by the second question, or it would be by none.
    const now = app.clock();
    const due = await db.read
      .selectDistinct({ id: webhookDeliveries.endpoint_id })
      .from(webhookDeliveries)
      .where(isDue(now));
    for (const { id } of due) if (!lanes.has(id)) openLane(id);
    const [next] = await db.read
      .select({ next_at: webhookDeliveries.next_at })
      .from(webhookDeliveries)
      .where(and(isPending, gt(webhookDeliveries.next_at, now)))
      .orderBy(asc(webhookDeliveries.next_at))
      .limit(1);
    if (next) wakeIn(next.next_at.getTime() - app.clock().getTime());
  }

  function openLane(endpoint_id: string): void {
    const lane = drain(endpoint_id)
      .catch((cause) => {
        app.log.error(
          { endpoint: endpoint_id, error: String(cause) },
          "a webhook's deliveries were interrupted",
        );
        wakeIn(AFTER_FAULT_MS);
      })
      .finally(() => {
        lanes.delete(endpoint_id);
        if (again) wake();
      });
    lanes.set(endpoint_id, lane);
  }

  /** Sends until nothing is due. */
  async function drain(endpoint_id: string): Promise<void> {
    for (let failures = 0; !stopping; ) {
      const found = await waiting(endpoint_id, failures);
      if (!found) {
        // What came between the look and the end of the lane finds another.
        again = true;
        return;
      }
      const { endpoint, due } = found;
      const outcomes = await Promise.all(due.map((message) => sendMessage(app, endpoint, message)));
      await store(endpoint, due, outcomes);
      failures = outcomes.some(({ ok }) => ok) ? 0 : failures + outcomes.length;
      if (failures >= PATIENT_FAILURES) await rest(pauseAfter(failures));
      else if (await isBusy()) await rest(BUSY_PAUSE_MS);
    }
  }

  /** @returns what to send now; undefined when nothing is due, or nobody is to be told any more */
  async function waiting(
    endpoint_id: string,
    failures: number,
  ): Promise<{ endpoint: WebhookEndpoint; due: Due[] } | undefined> {
    const [endpoint] = await db.read
      .select()
      .from(webhookEndpoints)
      .where(eq(webhookEndpoints.id, endpoint_id));
    if (!endpoint?.enabled) {
      await db.write((tx) => leave(tx, endpoint_id));
      return undefined;
    }
    const found = await db.read
      .select({ seq: webhookDeliveries.event_seq })
      .from(webhookDeliveries)
      .where(and(eq(webhookDeliveries.endpoint_id, endpoint_id), isDue()))
      .orderBy(asc(webhookDeliveries.event_seq))
      .limit(MANY + 1);
    const most = found.length > MANY && failures < PATIENT_FAILURES ? AT_ONCE : 1;
    const seqs = found.slice(0, most).map(({ seq }) => seq);
    const taken = db.dialect === "postgres" ? await take(endpoint_id, seqs) : seqs;
    if (taken.length === 0) return undefined;
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
      .where(and(inArray(webhookEvents.seq, taken), eq(webhookDeliveries.endpoint_id, endpoint_id)))
      .orderBy(asc(webhookEvents.seq));
    return { endpoint, due };
  }

  /** Of several servers one has a delivery at a time. */
  async function take(endpoint_id: string, seqs: number[]): Promise<number[]> {
    if (seqs.length === 0) return [];
    const until = new Date(app.clock().getTime() + LEASE_MS);
    const rows = await db.write((tx) =>
      tx
        .update(webhookDeliveries)
        .set({ next_at: until })
        .where(
          and(
            eq(webhookDeliveries.endpoint_id, endpoint_id),
            inArray(webhookDeliveries.event_seq, seqs),
            isDue(),
          ),
        )
        .returning({ seq: webhookDeliveries.event_seq }),
    );
    return rows.map(({ seq }) => seq);
  }

  /** Nobody is told: what waits is kept for when somebody asks for it again. */
  async function leave(tx: Tx, endpoint_id: string): Promise<void> {
    await tx
      .update(webhookDeliveries)
      .set({ state: "failed", error: "the endpoint was switched off" })
      .where(and(eq(webhookDeliveries.endpoint_id, endpoint_id), isPending));
  }

  async function store(endpoint: WebhookEndpoint, due: Due[], outcomes: Outcome[]): Promise<void> {
    const now = app.clock();
    const arrived = outcomes.some(({ ok }) => ok);
    await db.write(async (tx) => {
      let givenUp = 0;
      for (const [index, message] of due.entries())
        if ((await storeOne(tx, endpoint, message, outcomes[index]!, now)) === "failed") givenUp++;
      if (givenUp > 0) await raiseGivenUp(tx, endpoint, outcomes);
      const failing_since = arrived ? null : (endpoint.failing_since ?? now);
      if (failing_since?.getTime() === endpoint.failing_since?.getTime()) return;
      await tx.update(webhookEndpoints).set({ failing_since }).where(eq(webhookEndpoints.id, endpoint.id));
    });
  }

  async function raiseGivenUp(
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

  function rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timeout = setTimeout(done, ms);
      function done() {
        clearTimeout(timeout);
        resting.delete(done);
        resolve();
      }
      resting.add(done);
    });
  }

  return {
    start() {
      senderOf(app).wake = wakeSoon;
      if (db.dialect === "postgres") poll = setInterval(wake, POSTGRES_POLL_MS);
      wake();
    },
    async stop() {
      stopping = true;
      senderOf(app).wake = () => {};
      clearTimeout(timer);
      clearTimeout(soon);
      clearInterval(poll);
      for (const done of resting) done();
      await looking;
      await Promise.all(lanes.values());
    },
  };
}
