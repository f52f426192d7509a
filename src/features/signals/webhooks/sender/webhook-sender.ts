/**
 * Delivers events to webhook endpoints, from the outbox and in the order of events. Each endpoint has its own lane (a
 * periodic task), so a slow or failing one does not delay others. A receiver that keeps up gets one event after
 * another. With a backlog several are sent at once, and a failing receiver is tried ever less often. Outcomes are
 * stored before the next batch is read: delivery is at least once.
 */
import { min } from "drizzle-orm";
import { type Backoff, computeBackoffMs } from "../../../../lib/async/retry.ts";
import { createService, createServiceGroup, type Service } from "../../../../lib/async/service.ts";
import { sleep } from "../../../../lib/async/sleep.ts";
import { yieldToEventLoop } from "../../../../lib/async/time-slices.ts";
import type { App } from "../../../../platform/app/context.ts";
import { createPeriodicTask, type PeriodicTask } from "../../../../platform/loops/periodic-task.ts";
import { sendWebhook } from "../deliveries.ts";
import { fanOutEvents, getWebhookSender } from "../outbox.ts";
import { webhookDeliveries } from "../tables.ts";
import {
  type DeliveryBatch,
  findDueBatch,
  findNextAttempt,
  isPending,
  leaseDeliveries,
  storeOutcomes,
} from "./webhook-batch.ts";

/** Changes within this time are fanned out together. */
const DEBOUNCE_MS = 20;
/** After this many consecutive failures an endpoint is tried with backoff only. */
const FAILURES_BEFORE_BACKOFF = 10;
const BACKOFF: Backoff = { first_ms: 1_000, max_ms: 30_000, factor: Math.SQRT2 };
/** Longest time spent on an ordered batch before it is read again, since the endpoint may have been edited. */
const MAX_BATCH_MS = 1_000;
/** Event-loop delay above which the thread counts as busy. While it is, batches start at most every BUSY_PAUSE_MS. */
const BUSY_THRESHOLD_MS = 0.5;
const BUSY_PAUSE_MS = 400;

/** Adds failures of one batch, so that a parallel batch leads to the first backoff, not to a longer one. */
function addFailures(before: number, at_once: number): number {
  return Math.min(before + at_once, Math.max(before + 1, FAILURES_BEFORE_BACKOFF));
}

/** Whether the event loop is busy, measured by how long a yield takes. */
async function isBusy(): Promise<boolean> {
  const began = performance.now();
  await yieldToEventLoop();
  return performance.now() - began > BUSY_THRESHOLD_MS;
}

/** Creates a throttle to await between batches. While the thread is busy, it spreads all waiting callers over time. */
function createThrottle(): (stopping: AbortSignal) => Promise<void> {
  let taken_until = 0;
  return async (stopping) => {
    if (!(await isBusy())) return;
    const now = performance.now();
    taken_until = Math.max(taken_until, now) + BUSY_PAUSE_MS;
    await sleep(taken_until - now, stopping);
  };
}

export function createWebhookSender(app: App): Service {
  const lanes = new Map<string, PeriodicTask>();
  let stopping = true;
  const turn = createThrottle();

  function laneOf(endpoint_id: string): PeriodicTask | undefined {
    if (stopping) return undefined;
    let lane = lanes.get(endpoint_id);
    if (!lane) {
      lane = createPeriodicTask(app, {
        failure_message: "a webhook's deliveries were interrupted",
        // Runs only when woken; deliveries left by other servers are found by the scan below.
        first_delay_ms: Number.POSITIVE_INFINITY,
        interval_ms: Number.POSITIVE_INFINITY,
        run: (_now, stopping) => drainEndpoint(app, endpoint_id, turn, stopping),
      });
      void lane.start();
      lanes.set(endpoint_id, lane);
    }
    return lane;
  }

  /** Stops and removes idle lanes, whose endpoints may no longer exist. */
  function dropIdleLanes(): void {
    for (const [id, lane] of lanes) {
      if (!lane.isIdle()) continue;
      lanes.delete(id);
      void lane.stop();
    }
  }

  const makingTurn = createThrottle();
  const making = createPeriodicTask(app, {
    failure_message: "webhook events could not be fanned out",
    debounce_ms: DEBOUNCE_MS,
    async run(_now, stopping) {
      dropIdleLanes();
      for (let more = true; more && !stopping.aborted; ) {
        const made = await fanOutEvents(app);
        for (const id of made.endpoints) laneOf(id)?.wake();
        more = made.more;
        if (more) await makingTurn(stopping);
      }
      return undefined;
    },
  });

  /** Finds deliveries from before this start, or from other servers. */
  const endpoints = createPeriodicTask(app, {
    failure_message: "scan for webhook deliveries failed",
    async run() {
      const waiting = await app.db.read
        .select({ id: webhookDeliveries.endpoint_id, next_at: min(webhookDeliveries.next_at) })
        .from(webhookDeliveries)
        .where(isPending)
        .groupBy(webhookDeliveries.endpoint_id);
      for (const { id, next_at } of waiting) if (next_at) laneOf(id)?.wakeAt(next_at);
      return undefined;
    },
  });

  const all = createService(() => {
    stopping = false;
    return async () => {
      stopping = true;
      await Promise.all([...lanes.values()].map((lane) => lane.stop()));
      lanes.clear();
    };
  });
  getWebhookSender(app).wake = (endpoint_id) =>
    (endpoint_id === undefined ? making : laneOf(endpoint_id))?.wake();
  // Stopped in reverse order: fan-out and scan first, then the lanes.
  return createServiceGroup(app.log, [
    ["lanes", all],
    ["deliveries", making],
    ["endpoints", endpoints],
  ]);
}

/** Sends until nothing is due. @returns when the next delivery is due */
async function drainEndpoint(
  app: App,
  endpoint_id: string,
  turn: (stopping: AbortSignal) => Promise<void>,
  stopping: AbortSignal,
): Promise<Date | undefined> {
  for (let failures = 0; !stopping.aborted; ) {
    const batch = await findDueBatch(app, endpoint_id, failures < FAILURES_BEFORE_BACKOFF);
    if (!batch) break;
    failures = await sendBatch(app, batch, failures, stopping);
    if (failures >= FAILURES_BEFORE_BACKOFF)
      await sleep(computeBackoffMs(BACKOFF, failures - FAILURES_BEFORE_BACKOFF + 1), stopping);
    else await turn(stopping);
  }
  return findNextAttempt(app, endpoint_id);
}

/** Sends one batch. @returns the number of consecutive failures, including those before it */
async function sendBatch(
  app: App,
  { endpoint, due, in_order }: DeliveryBatch,
  failures: number,
  stopping: AbortSignal,
): Promise<number> {
  const began = performance.now();
  const groups = in_order ? due.map((message) => [message]) : [due];
  let failed = failures;
  for (const group of groups) {
    const ours = await leaseDeliveries(app, endpoint.id, group);
    const outcomes = await Promise.all(ours.map((message) => sendWebhook(app, endpoint, message)));
    await storeOutcomes(app, endpoint, ours, outcomes);
    failed = outcomes.some(({ ok }) => ok) ? 0 : addFailures(failed, outcomes.length);
    if (stopping.aborted || failed >= FAILURES_BEFORE_BACKOFF || performance.now() - began > MAX_BATCH_MS)
      break;
  }
  return failed;
}
