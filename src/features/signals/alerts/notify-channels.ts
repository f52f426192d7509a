/**
 * Telling the channels of the setting `critical_error_channels`. That an alert is to be told is stored with the alert
 * itself, in one transaction, and stays until every channel has it, somebody acknowledges it, or a day has passed. So no
 * alert is lost when a server dies; one that dies while it tells leaves an alert that a channel may hear of twice.
 */

import { and, asc, eq, isNotNull, lte, sql } from "drizzle-orm";
import { inBackground } from "../../../lib/async/background.ts";
import { type Backoff, backoffMs } from "../../../lib/async/retry.ts";
import { sha256 } from "../../../lib/text/ids.ts";
import type { App } from "../../../platform/app/context.ts";
import { type Channel, channelsOf, nameOf, reasonOf, type SendFailure, send } from "./channels.ts";
import { criticalAlerts } from "./tables.ts";

/** Longer than all channels can take, which are told at the same time: until then nobody else tells it. */
const LEASE_MS = 120_000;
/** Alerts are few: none of it is left to chance. */
const BACKOFF: Backoff = { first_ms: 10_000, max_ms: 3_600_000, jitter: 0 };
/** After this an alert says nothing new: it is given up. */
const PATIENCE_MS = 24 * 3_600_000;
const AT_ONCE = 20;

type Alert = typeof criticalAlerts.$inferSelect;

/** Begins to tell one alert, outside any transaction, where it is due and no other server tells it. */
export function tell(app: App, id: number): void {
  inBackground(
    app,
    async () => {
      const alert = await take(app, id);
      if (alert) await settle(app, alert, await sendToAll(app, alert));
    },
    (cause) => app.log.error({ alert: id, error: String(cause) }, "the alert could not be told"),
  );
}

/** Tells what failed before, and what a process that ended had no time to tell. */
export async function tellDue(app: App): Promise<void> {
  const due = await app.db.read
    .select({ id: criticalAlerts.id })
    .from(criticalAlerts)
    .where(and(isNotNull(criticalAlerts.next_try_at), lte(criticalAlerts.next_try_at, app.clock())))
    .orderBy(asc(criticalAlerts.next_try_at))
    .limit(AT_ONCE);
  for (const { id } of due) tell(app, id);
}

/** @returns undefined when another server has it, or nobody is to be told any more */
async function take(app: App, id: number): Promise<Alert | undefined> {
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

interface Outcome {
  /** Digests of the channels that have it by now. */
  told: string[];
  failures: SendFailure[];
}

/** To every channel there is by now that does not have it yet: one that was mended meanwhile is tried as it is. */
async function sendToAll(app: App, alert: Alert): Promise<Outcome> {
  const { id, alert_type, kind, message, workspace_id, created_at } = alert;
  const notice = { id, alert_type, kind, message, workspace_id, created_at };
  const outcome: Outcome = { told: [...(alert.told ?? [])], failures: [] };
  const channels = channelsOf(app.settings.get("critical_error_channels"));
  const left = channels.filter((channel) => !outcome.told.includes(digestOf(channel)));
  await Promise.all(
    left.map(async (channel) => {
      try {
        await send(app, channel, notice);
        outcome.told.push(digestOf(channel));
      } catch (cause) {
        const failure = { channel: nameOf(channel), error: reasonOf(cause), at: app.clock().toISOString() };
        outcome.failures.push(failure);
        app.log.warn(
          { alert: id, channel: failure.channel, error: failure.error },
          "a channel was not told of an alert",
        );
      }
    }),
  );
  return outcome;
}

/** What a channel is known by, with nothing in it that could be read. */
function digestOf({ email, chat_channel, webhook_url }: Channel): string {
  return sha256(JSON.stringify([email, chat_channel, webhook_url])).slice(0, 16);
}

/** Stores who was told, and when the others are tried again. What was acknowledged meanwhile is told no more. */
async function settle(app: App, alert: Alert, { told, failures }: Outcome): Promise<void> {
  const now = app.clock().getTime();
  const isOver = failures.length === 0 || now - alert.created_at.getTime() >= PATIENCE_MS;
  if (isOver && failures.length > 0) app.log.error({ alert: alert.id }, "an alert was told to some alone");
  await app.db.write(async (tx) => {
    await tx
      .update(criticalAlerts)
      .set({ told, send_failures: failures.length === 0 ? null : failures })
      .where(eq(criticalAlerts.id, alert.id));
    await tx
      .update(criticalAlerts)
      .set({ next_try_at: isOver ? null : new Date(now + backoffMs(BACKOFF, alert.tries)) })
      .where(and(eq(criticalAlerts.id, alert.id), isNotNull(criticalAlerts.next_try_at)));
  });
}
