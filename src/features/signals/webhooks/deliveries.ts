/** Deliveries of webhook events: sending, retrying, listing and redelivering them. */

import { and, desc, eq, lt } from "drizzle-orm";
import type { Reader } from "../../../database/database.ts";
import { type Backoff, computeBackoffMs } from "../../../lib/async/retry.ts";
import { NotFound } from "../../../lib/errors.ts";
import type { App, Context } from "../../../platform/app/context.ts";
import { OutgoingError } from "../../../platform/outgoing/connect.ts";
import { type OutgoingAnswer, sendRequest } from "../../../platform/outgoing/request.ts";
import { getConfiguredTargets } from "../../../platform/outgoing/targets.ts";
import { ANY_TARGET, getEndpoint, readSigningSecrets } from "./endpoints.ts";
import { INSTANCE_WORKSPACE } from "./event-types.ts";
import { getWebhookSender } from "./outbox.ts";
import { createSignatureHeaders } from "./signature.ts";
import { type WebhookDelivery, type WebhookEndpoint, webhookDeliveries, webhookEvents } from "./tables.ts";

/** How long a receiver may take to respond, connecting included. */
const TIMEOUT_MS = 5_000;
/** Upper limit of the response; only its status is used. */
const MAX_RESPONSE_BYTES = 16_384;
const MAX_REDIRECTS = 3;
/** Delay before each retry, for up to a day: 5 s, 10 s, 20 s … 3 h. */
const BACKOFF: Backoff = { first_ms: 5_000, max_ms: 3 * 3_600_000, jitter: 0.5 };
const GIVE_UP_AFTER_MS = 24 * 3_600_000;
/** Upper limit of a receiver's `Retry-After`. */
const MAX_RETRY_AFTER_MS = 3_600_000;

export interface WebhookMessage {
  id: string;
  payload: string;
}

export interface DeliveryOutcome {
  ok: boolean;
  /** HTTP status; undefined without a response. */
  status?: number;
  error?: string;
  /** The receiver's `Retry-After`, in milliseconds. */
  retry_after_ms?: number;
}

/** Sends one signed message. Failures of the receiver are returned as outcome, not thrown. */
export async function sendWebhook(
  app: App,
  endpoint: WebhookEndpoint,
  message: WebhookMessage,
): Promise<DeliveryOutcome> {
  const { id, payload: body } = message;
  try {
    const answer = await sendRequest({
      url: endpoint.url,
      method: "POST",
      headers: {
        "content-type": "application/json",
        "user-agent": "svc-webhooks",
        ...createSignatureHeaders({ id, body, at: app.clock() }, await readSigningSecrets(app, endpoint)),
      },
      body,
      targets: endpoint.workspace_id === INSTANCE_WORKSPACE ? ANY_TARGET : getConfiguredTargets(app),
      timeout_ms: TIMEOUT_MS,
      max_bytes: MAX_RESPONSE_BYTES,
      max_redirects: MAX_REDIRECTS,
    });
    return toOutcome(answer);
  } catch (cause) {
    if (cause instanceof OutgoingError) return { ok: false, error: cause.message };
    throw cause;
  }
}

function toOutcome({ status, headers }: OutgoingAnswer): DeliveryOutcome {
  if (status >= 200 && status < 300) return { ok: true, status };
  const asked = Number(headers.get("retry-after") ?? Number.NaN) * 1000;
  return {
    ok: false,
    status,
    error: `the receiver answered ${status}`,
    ...(asked > 0 ? { retry_after_ms: Math.min(asked, MAX_RETRY_AFTER_MS) } : {}),
  };
}

/**
 * Computes when a failed delivery is tried again: exponential backoff, half of it random, so that retries are spread.
 * @param attempts made so far, at least 1
 * @returns undefined if the retry period is over
 */
export function computeNextAttempt(
  { attempts, created_at, now }: { attempts: number; created_at: Date; now: Date },
  { retry_after_ms = 0 }: DeliveryOutcome,
  random: () => number = Math.random,
): Date | undefined {
  if (now.getTime() - created_at.getTime() >= GIVE_UP_AFTER_MS) return undefined;
  return new Date(now.getTime() + Math.max(computeBackoffMs(BACKOFF, attempts, random), retry_after_ms));
}

export interface ListedDelivery extends Omit<WebhookDelivery, "endpoint_id"> {
  event_id: string;
  type: string;
  payload: string;
  created_at: Date;
}

/**
 * Lists the deliveries of an endpoint, newest events first. @param before `event_seq` of the last delivery on the page
 * before. @throws NotFound
 */
export async function listDeliveries(
  db: Reader,
  workspace_id: string,
  endpoint_id: string,
  asked: { state?: WebhookDelivery["state"] | undefined; before?: number | undefined; per_page: number },
): Promise<ListedDelivery[]> {
  await getEndpoint(db, workspace_id, endpoint_id);
  const rows = await db
    .select({ delivery: webhookDeliveries, event: webhookEvents })
    .from(webhookDeliveries)
    .innerJoin(webhookEvents, eq(webhookEvents.seq, webhookDeliveries.event_seq))
    .where(
      and(
        eq(webhookDeliveries.endpoint_id, endpoint_id),
        asked.state && eq(webhookDeliveries.state, asked.state),
        asked.before !== undefined ? lt(webhookDeliveries.event_seq, asked.before) : undefined,
      ),
    )
    .orderBy(desc(webhookDeliveries.event_seq))
    .limit(asked.per_page);
  return rows.map(
    ({ delivery: { endpoint_id: _, ...delivery }, event: { id, type, payload, created_at } }) => ({
      ...delivery,
      event_id: id,
      type,
      payload,
      created_at,
    }),
  );
}

/** Schedules deliveries again: one event in any state, or all failed ones. @returns their number. @throws NotFound */
export async function redeliverEvents(
  ctx: Context,
  workspace_id: string,
  endpoint_id: string,
  event_seq: number | undefined,
): Promise<number> {
  const { app } = ctx;
  return ctx.write({ resource: endpoint_id }, async (tx) => {
    await getEndpoint(tx, workspace_id, endpoint_id);
    const which =
      event_seq === undefined
        ? eq(webhookDeliveries.state, "failed")
        : eq(webhookDeliveries.event_seq, event_seq);
    const again = await tx
      .update(webhookDeliveries)
      .set({ state: "pending", next_at: app.clock() })
      .where(and(eq(webhookDeliveries.endpoint_id, endpoint_id), which))
      .returning({ event_seq: webhookDeliveries.event_seq });
    if (event_seq !== undefined && again.length === 0) {
      throw new NotFound(`event ${event_seq} of webhook endpoint ${endpoint_id}`);
    }
    tx.afterCommit(() => getWebhookSender(app).wake(endpoint_id));
    return again.length;
  });
}
