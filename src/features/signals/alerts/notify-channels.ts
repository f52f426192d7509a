/**
 * Notifies the channels of the setting `critical_error_channels`. The pending notification is stored with the alert in
 * one transaction. It stays until every channel was notified, somebody acknowledges the alert, or a day has passed.
 * Delivery is at least once: after a crash a channel may be notified twice.
 */

import { and, asc, eq, isNotNull, lte, sql } from "drizzle-orm";
import { runInBackground } from "../../../lib/async/background.ts";
import { type Backoff, computeBackoffMs } from "../../../lib/async/retry.ts";
import { sha256 } from "../../../lib/text/ids.ts";
import type { App } from "../../../platform/app/context.ts";
import {
  type AlertChannel,
  describeChannel,
  describeSendFailure,
  listChannels,
  type SendFailure,
  sendToChannel,
} from "./channels.ts";
import { criticalAlerts } from "./tables.ts";

/** Lease on an alert; longer than notifying all channels in parallel can take. */
const LEASE_MS = 120_000;
/** Without jitter: alerts are few, so attempts need not be spread. */
const BACKOFF: Backoff = { first_ms: 10_000, max_ms: 3_600_000, jitter: 0 };
/** A notification that could not be sent for this long is dropped. */
const GIVE_UP_AFTER_MS = 24 * 3_600_000;
const BATCH_SIZE = 20;

type Alert = typeof criticalAlerts.$inferSelect;

/** Notifies the channels in the background, unless the alert is not due or another server holds the lease. */
export function notifyChannels(app: App, id: number): void {
  runInBackground(
    app,
    async () => {
      const alert = await leaseAlert(app, id);
      if (alert) await storeNotifyOutcome(app, alert, await sendToAllChannels(app, alert));
    },
    (cause) => app.log.error({ alert: id, error: String(cause) }, "alert notification failed"),
  );
}

/** Notifies about alerts whose earlier attempt failed, or was interrupted by the end of a process. */
export async function notifyDue(app: App): Promise<void> {
  const due = await app.db.read
    .select({ id: criticalAlerts.id })
    .from(criticalAlerts)
    .where(and(isNotNull(criticalAlerts.next_try_at), lte(criticalAlerts.next_try_at, app.clock())))
    .orderBy(asc(criticalAlerts.next_try_at))
    .limit(BATCH_SIZE);
  for (const { id } of due) notifyChannels(app, id);
}

/** Leases an alert. @returns undefined if another server has it, or nothing is pending */
async function leaseAlert(app: App, id: number): Promise<Alert | undefined> {
  const now = app.clock();
  const [alert] = await app.db.write((tx) =>
    tx
      .update(criticalAlerts)
      .set({ next_try_at: new Date(now.getTime() + LEASE_MS), tries: sql`${criticalAlerts.tries} + 1` })
      .where(and(eq(criticalAlerts.id, id), lte(criticalAlerts.next_try_at, now)))
      .returning(),
  );
  return alert;
}

interface NotifyOutcome {
  /** Hashes of the channels that were notified. */
  told: string[];
  failures: SendFailure[];
}

/** Sends to every configured channel that was not notified yet, with the current settings. */
async function sendToAllChannels(app: App, alert: Alert): Promise<NotifyOutcome> {
  const { id, alert_type, kind, message, workspace_id, created_at } = alert;
  const notice = { id, alert_type, kind, message, workspace_id, created_at };
  const outcome: NotifyOutcome = { told: [...(alert.told ?? [])], failures: [] };
  const channels = listChannels(app.settings.get("critical_error_channels"));
  const left = channels.filter((channel) => !outcome.told.includes(hashChannel(channel)));
  await Promise.all(
    left.map(async (channel) => {
      try {
        await sendToChannel(app, channel, notice);
        outcome.told.push(hashChannel(channel));
      } catch (cause) {
        const failure = {
          channel: describeChannel(channel),
          error: describeSendFailure(cause),
          at: app.clock().toISOString(),
        };
        outcome.failures.push(failure);
        app.log.warn(
          { alert: id, channel: failure.channel, error: failure.error },
          "alert could not be sent to a channel",
        );
      }
    }),
  );
  return outcome;
}

/** Returns an id of the channel that reveals nothing about it. */
function hashChannel({ email, chat_channel, webhook_url }: AlertChannel): string {
  return sha256(JSON.stringify([email, chat_channel, webhook_url])).slice(0, 16);
}

/**
 * Stores which channels were notified, and when the others are tried again. If the alert was acknowledged in the
 * meantime, it stays acknowledged.
 */
async function storeNotifyOutcome(app: App, alert: Alert, { told, failures }: NotifyOutcome): Promise<void> {
  const now = app.clock().getTime();
  const isOver = failures.length === 0 || now - alert.created_at.getTime() >= GIVE_UP_AFTER_MS;
  if (isOver && failures.length > 0)
    app.log.error({ alert: alert.id }, "alert notification given up: some channels were not reached");
  await app.db.write(async (tx) => {
    await tx
      .update(criticalAlerts)
      .set({ told, send_failures: failures.length === 0 ? null : failures })
      .where(eq(criticalAlerts.id, alert.id));
    await tx
      .update(criticalAlerts)
      .set({ next_try_at: isOver ? null : new Date(now + computeBackoffMs(BACKOFF, alert.tries)) })
      .where(and(eq(criticalAlerts.id, alert.id), isNotNull(criticalAlerts.next_try_at)));
  });
}
