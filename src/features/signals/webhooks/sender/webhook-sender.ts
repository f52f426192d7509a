/**
 * Delivers events to webhook endpoints. What each is to be sent follows from the outbox, in the order of events. Each
 * endpoint has a lane of its own, so that one which is slow or down holds up no other: while it keeps up it is sent one
 * event after the other, in order; with many waiting, several at once; and while it fails, fewer and fewer. Every outcome
 * is stored before the next look: an event may arrive twice, never not.
 */
import { min } from "drizzle-orm";
import { pause } from "../../../../lib/async/pause.ts";
import { type Backoff, backoffMs } from "../../../../lib/async/retry.ts";
import { sleep } from "../../../../lib/async/sleep.ts";
import { createGroup, createService, type Service } from "../../../../lib/async/start-stop.ts";
import type { App } from "../../../../platform/app/context.ts";
import { createPeriodicTask, type PeriodicTask } from "../../../../platform/loops/periodic-task.ts";
import { sendMessage } from "../deliveries.ts";
import { makeDeliveries, senderOf } from "../outbox.ts";
import { webhookDeliveries } from "../tables.ts";
import { type Batch, dueBatch, isPending, leaseUntilTold, nextDue, storeOutcomes } from "./webhook-batch.ts";

/** Changes of so long are looked at together. */
const SOON_MS = 20;
/** After so many failures in a row an endpoint is asked once in a while only. */
const PATIENT_FAILURES = 10;
const BACKOFF: Backoff = { first_ms: 1_000, max_ms: 30_000, factor: Math.SQRT2 };
/** A batch that is sent in order is looked at anew after so long: the endpoint may have been changed meanwhile. */
const BATCH_MS = 1_000;
/** The thread that sends serves requests as well: while it has others to serve, one batch of all begins so often. */
const BUSY_MS = 0.5;
const BUSY_PAUSE_MS = 400;

/** Those that fail at the same time lead to the first pause, not to a longer one. */
function moreFailures(before: number, at_once: number): number {
  return Math.min(before + at_once, Math.max(before + 1, PATIENT_FAILURES));
}

/** Whether there is much else for the thread to do: then its turn takes long to come again. */
async function isBusy(): Promise<boolean> {
  const began = performance.now();
  await pause();
  return performance.now() - began > BUSY_MS;
}

/** @returns what is awaited between two batches: nothing, or while the thread is busy a turn among all who await it */
function createTurns(): (stopping: AbortSignal) => Promise<void> {
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
  const turn = createTurns();

  function laneOf(endpoint_id: string): PeriodicTask | undefined {
    if (stopping) return undefined;
    let lane = lanes.get(endpoint_id);
    if (!lane) {
      lane = createPeriodicTask(app, {
        failure: "a webhook's deliveries were interrupted",
        // Runs when it is woken: what other servers have left is found by the look for endpoints.
        first_ms: Number.POSITIVE_INFINITY,
        interval_ms: Number.POSITIVE_INFINITY,
        run: (_now, stopping) => drain(app, endpoint_id, turn, stopping),
      });
      void lane.start();
      lanes.set(endpoint_id, lane);
    }
    return lane;
  }

  /** Lanes that have nothing to do are let go of: an endpoint may never be heard of again. */
  function dropIdleLanes(): void {
    for (const [id, lane] of lanes) {
      if (!lane.isIdle()) continue;
      lanes.delete(id);
      void lane.stop();
    }
  }

  const makingTurn = createTurns();
  const making = createPeriodicTask(app, {
    failure: "deliveries of webhook events could not be made",
    debounce_ms: SOON_MS,
    async run(_now, stopping) {
      dropIdleLanes();
      for (let more = true; more && !stopping.aborted; ) {
        const made = await makeDeliveries(app);
        for (const id of made.endpoints) laneOf(id)?.wake();
        more = made.more;
        if (more) await makingTurn(stopping);
      }
      return undefined;
    },
  });

  /** For what was stored before this server began, or by others. */
  const endpoints = createPeriodicTask(app, {
    failure: "webhook deliveries could not be looked for",
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
  senderOf(app).wake = (endpoint_id) => (endpoint_id === undefined ? making : laneOf(endpoint_id))?.wake();
  // Stopped the other way round: what makes deliveries and looks for them first, then the lanes.
  return createGroup(app.log, [
    ["lanes", all],
    ["deliveries", making],
    ["endpoints", endpoints],
  ]);
}

/** Sends until nothing is due. @returns when something is again */
async function drain(
  app: App,
  endpoint_id: string,
  turn: (stopping: AbortSignal) => Promise<void>,
  stopping: AbortSignal,
): Promise<Date | undefined> {
  for (let failures = 0; !stopping.aborted; ) {
    const batch = await dueBatch(app, endpoint_id, failures < PATIENT_FAILURES);
    if (!batch) break;
    failures = await sendBatch(app, batch, failures, stopping);
    if (failures >= PATIENT_FAILURES)
      await sleep(backoffMs(BACKOFF, failures - PATIENT_FAILURES + 1), stopping);
    else await turn(stopping);
  }
  return nextDue(app, endpoint_id);
}

/** @returns how many have failed since the last one that arrived, those before the batch included */
async function sendBatch(
  app: App,
  { endpoint, due, in_order }: Batch,
  failures: number,
  stopping: AbortSignal,
): Promise<number> {
  const began = performance.now();
  const groups = in_order ? due.map((message) => [message]) : [due];
  let failed = failures;
  for (const group of groups) {
    const ours = await leaseUntilTold(app, endpoint.id, group);
    const outcomes = await Promise.all(ours.map((message) => sendMessage(app, endpoint, message)));
    await storeOutcomes(app, endpoint, ours, outcomes);
    failed = outcomes.some(({ ok }) => ok) ? 0 : moreFailures(failed, outcomes.length);
    if (stopping.aborted || failed >= PATIENT_FAILURES || performance.now() - began > BATCH_MS) break;
  }
  return failed;
}
