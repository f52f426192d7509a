/** What has become of the events that endpoints are told of. */

import { and, desc, eq, lt } from "drizzle-orm";
import type { Reader } from "../../../database/database.ts";
import { type Backoff, backoffMs } from "../../../lib/async/retry.ts";
import { NotFound } from "../../../lib/errors.ts";
import type { App, Context } from "../../../platform/app/context.ts";
import { OutgoingError } from "../../../platform/outgoing/connect.ts";
import { type OutgoingAnswer, sendRequest } from "../../../platform/outgoing/request.ts";
import { allowedTargets } from "../../../platform/outgoing/targets.ts";
import { ANYWHERE, getEndpoint, secretsOf } from "./endpoints.ts";
import { INSTANCE } from "./event-types.ts";
import { senderOf } from "./outbox.ts";
import { signedHeaders } from "./signature.ts";
import { type WebhookDelivery, type WebhookEndpoint, webhookDeliveries, webhookEvents } from "./tables.ts";

/** How long a receiver has for its answer, connecting included. */
const TIMEOUT_MS = 5_000;
/** Of the answer nothing but its status counts. */
const MAX_ANSWER_BYTES = 16_384;
const MAX_REDIRECTS = 3;
/** For events that are tried for a day: 5 s, 10 s, 20 s … 3 h. */
const BACKOFF: Backoff = { first_ms: 5_000, max_ms: 3 * 3_600_000, jitter: 0.5 };
const PATIENCE_MS = 24 * 3_600_000;
/** What a receiver may ask for with `Retry-After`. */
const LONGEST_ASKED_MS = 3_600_000;

export interface Message {
  id: string;
  payload: string;
}

export interface Outcome {
  ok: boolean;
  /** HTTP status; undefined where there was no answer. */
  status?: number;
  error?: string;
  /** Milliseconds for which the receiver asks to be left alone. */
  retry_after_ms?: number;
}

/** Sends one message, signed. Whatever goes wrong is in the outcome. */
export async function sendMessage(app: App, endpoint: WebhookEndpoint, message: Message): Promise<Outcome> {
  const { id, payload: body } = message;
  try {
    const answer = await sendRequest({
      url: endpoint.url,
      method: "POST",
      headers: {
        "content-type": "application/json",
        "user-agent": "svc-webhooks",
        ...signedHeaders({ id, body, at: app.clock() }, await secretsOf(app, endpoint)),
      },
      body,
      targets: endpoint.workspace_id === INSTANCE ? ANYWHERE : allowedTargets(app),
      timeout_ms: TIMEOUT_MS,
      max_bytes: MAX_ANSWER_BYTES,
      max_redirects: MAX_REDIRECTS,
    });
    return outcomeOf(answer);
  } catch (cause) {
    if (cause instanceof OutgoingError) return { ok: false, error: cause.message };
    throw cause;
  }
}

function outcomeOf({ status, headers }: OutgoingAnswer): Outcome {
  if (status >= 200 && status < 300) return { ok: true, status };
  const asked = Number(headers.get("retry-after") ?? Number.NaN) * 1000;
  return {
    ok: false,
    status,
    error: `the receiver answered ${status}`,
    ...(asked > 0 ? { retry_after_ms: Math.min(asked, LONGEST_ASKED_MS) } : {}),
  };
}

/**
 * When a delivery that has failed is tried again: exponential back-off, of which half is left to chance so that many do
 * not come at once.
 * @param attempts made so far, at least 1
 * @returns undefined when its time is over
 */
export function nextTry(
  { attempts, created_at, now }: { attempts: number; created_at: Date; now: Date },
  { retry_after_ms = 0 }: Outcome,
  random: () => number = Math.random,
): Date | undefined {
  if (now.getTime() - created_at.getTime() >= PATIENCE_MS) return undefined;
  return new Date(now.getTime() + Math.max(backoffMs(BACKOFF, attempts, random), retry_after_ms));
}

export interface ListedDelivery extends Omit<WebhookDelivery, "endpoint_id"> {
  event_id: string;
  type: string;
  payload: string;
  created_at: Date;
}

/** Newest events first. @param before `event_seq` of the last one of the page before. @throws NotFound */
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

/**
 * Sends again: one event, whatever became of it, or all that were given up.
 * @returns how many. @throws NotFound
 */
export async function redeliver(
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
      throw new NotFound(`event ${event_seq} among those of webhook endpoint ${endpoint_id}`);
    }
    tx.afterCommit(() => senderOf(app).wake(endpoint_id));
    return again.length;
  });
}
