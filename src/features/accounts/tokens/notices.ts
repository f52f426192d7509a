/** Sends stored notices about expiring tokens. Each is leased by one server at a time and deleted once it is sent. */

import { and, asc, eq, lte, sql } from "drizzle-orm";
import { type Backoff, computeBackoffMs } from "../../../lib/async/retry.ts";
import type { App } from "../../../platform/app/context.ts";
import { raiseAlert } from "../../signals/alerts/service.ts";
import { createMailMessage, type MailMessage } from "../../signals/mail/mail-message.ts";
import { sendMail } from "../../signals/mail/send.ts";
import { tokenNotices } from "../../tenancy/tokens/tables.ts";

/** Lease on a notice; longer than sending a mail can take. */
const LEASE_MS = 120_000;
const BACKOFF: Backoff = { first_ms: 60_000, max_ms: 3_600_000 };
/** A notice that cannot be sent for this long is dropped. */
const GIVE_UP_AFTER_MS = 24 * 3_600_000;
const BATCH_SIZE = 20;

type Notice = typeof tokenNotices.$inferSelect;

/** Sends all due notices of both channels, until none is due or the server stops. */
export async function sendNotices(app: App, isStopping: () => boolean): Promise<void> {
  await sendChannelNotices(app, "alert", isStopping);
  await sendChannelNotices(app, "mail", isStopping);
}

/**
 * Sends the notices of a channel. Stops at the first failure, so that a slow mail server does not delay the next run.
 */
async function sendChannelNotices(
  app: App,
  channel: Notice["channel"],
  isStopping: () => boolean,
): Promise<void> {
  for (;;) {
    const due = await app.db.read
      .select({ id: tokenNotices.id })
      .from(tokenNotices)
      .where(and(lte(tokenNotices.next_at, app.clock()), eq(tokenNotices.channel, channel)))
      .orderBy(asc(tokenNotices.next_at), asc(tokenNotices.id))
      .limit(BATCH_SIZE);
    for (const { id } of due) {
      if (isStopping()) return;
      const notice = await claimNotice(app, id);
      if (notice && !(await sendNotice(app, notice))) return;
    }
    if (due.length < BATCH_SIZE) return;
  }
}

/** Leases a notice. @returns undefined if another server has it or has sent it */
async function claimNotice(app: App, id: number): Promise<Notice | undefined> {
  const now = app.clock();
  const [notice] = await app.db.write((tx) =>
    tx
      .update(tokenNotices)
      .set({ next_at: new Date(now.getTime() + LEASE_MS), attempts: sql`${tokenNotices.attempts} + 1` })
      .where(and(eq(tokenNotices.id, id), lte(tokenNotices.next_at, now)))
      .returning(),
  );
  return notice;
}

/** Sends one notice. @returns whether it was sent */
async function sendNotice(app: App, notice: Notice): Promise<boolean> {
  try {
    if (notice.channel === "mail") await sendMail(app, notice.email, composeMailMessage(app, notice));
    else await raiseNoticeAlert(app, notice);
  } catch (cause) {
    await retryLater(app, notice, cause);
    return false;
  }
  await deleteNotice(app, notice);
  return true;
}

async function retryLater(app: App, notice: Notice, cause: unknown): Promise<void> {
  const { id, email, token_prefix, attempts, created_at, type, expiration } = notice;
  const now = app.clock().getTime();
  const told = { email, token: token_prefix, notice: type, error: String(cause) };
  const isTooLate = type === "TokenExpiringSoon" && expiration.getTime() <= now;
  if (isTooLate || now - created_at.getTime() >= GIVE_UP_AFTER_MS) {
    app.log.warn(told, "the owner of an expiring token could not be notified by mail: given up");
    return deleteNotice(app, notice);
  }
  const again_in_ms = Math.round(computeBackoffMs(BACKOFF, attempts));
  app.log.warn({ ...told, again_in_ms }, "the owner of an expiring token could not be notified by mail");
  const next_at = new Date(now + again_in_ms);
  await app.db.write((tx) => tx.update(tokenNotices).set({ next_at }).where(eq(tokenNotices.id, id)));
}

async function deleteNotice(app: App, { id }: Notice): Promise<void> {
  await app.db.write((tx) => tx.delete(tokenNotices).where(eq(tokenNotices.id, id)));
}

/** Raises the alert. Repeated after a crash, it counts as the same alert and is not sent again. */
function raiseNoticeAlert(app: App, notice: Notice): Promise<void> {
  const { type, email, workspace_id, token_prefix } = notice;
  const kind = type === "TokenExpired" ? "token_expired" : "token_expiring_soon";
  const message = `The token ${describeToken(notice)} of ${email} ${describeExpiry(notice)}`;
  return raiseAlert(app, {
    kind,
    message,
    workspace_id: workspace_id ?? undefined,
    subject: token_prefix,
  });
}

function composeMailMessage(app: App, notice: Notice): MailMessage {
  const { id, type, workspace_id, created_at } = notice;
  const place = workspace_id === null ? "" : ` for the workspace ${workspace_id}`;
  const url = app.urls.base;
  const [subject, advice] =
    type === "TokenExpired"
      ? ["has expired", "It was deleted: whatever still uses it is refused."]
      : ["is expiring soon", "Make a new one in time, and give it to whatever uses this one."];
  const host = URL.canParse(url) ? new URL(url).hostname : "localhost";
  return {
    ...createMailMessage(`svc: Your API token ${subject}`, [
      `Your API token${place} at ${url} ${describeExpiry(notice)}:`,
      { code: describeToken(notice) },
      advice,
    ]),
    // The same for every attempt, so that mail systems can detect duplicates (RFC 5322 §3.6.4).
    messageId: `<token-notice-${id}-${created_at.getTime()}@${host}>`,
  };
}

function describeToken({ token_prefix, label }: Notice): string {
  return `${token_prefix}*****${label === null ? "" : ` (${label})`}`;
}

function describeExpiry({ type, expiration }: Notice): string {
  const at = expiration.toISOString();
  return type === "TokenExpired" ? `has expired at ${at}` : `expires at ${at}`;
}
