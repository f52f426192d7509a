/** Telling what is stored of tokens that end: taken by one server at a time, gone once it is told. */

import { and, asc, eq, lte, sql } from "drizzle-orm";
import { type Backoff, backoffMs } from "../../../lib/async/retry.ts";
import type { App } from "../../../platform/app/context.ts";
import { raiseAlert } from "../../signals/alerts/service.ts";
import { type Letter, letter } from "../../signals/mail/letter.ts";
import { sendMail } from "../../signals/mail/send.ts";
import { tokenNotices } from "../../tenancy/tokens/tables.ts";

/** Longer than a mail can take: until then no other server takes what this one has taken. */
const LEASE_MS = 120_000;
const BACKOFF: Backoff = { first_ms: 60_000, max_ms: 3_600_000 };
/** After this a notice that cannot be told is given up. */
const PATIENCE_MS = 24 * 3_600_000;
const AT_ONCE = 20;

type Notice = typeof tokenNotices.$inferSelect;

/** Tells one notice after the other until none is due, or nothing more is to be begun. */
export async function tellNotices(app: App, isStopping: () => boolean): Promise<void> {
  await tellChannel(app, "alert", isStopping);
  await tellChannel(app, "mail", isStopping);
}

/** Ends at the first failure: what is slow to fail would keep the next round from coming. */
async function tellChannel(app: App, channel: Notice["channel"], isStopping: () => boolean): Promise<void> {
  for (;;) {
    const due = await app.db.read
      .select({ id: tokenNotices.id })
      .from(tokenNotices)
      .where(and(lte(tokenNotices.next_at, app.clock()), eq(tokenNotices.channel, channel)))
      .orderBy(asc(tokenNotices.next_at), asc(tokenNotices.id))
      .limit(AT_ONCE);
    for (const { id } of due) {
      if (isStopping()) return;
      const notice = await take(app, id);
      if (notice && !(await tellOne(app, notice))) return;
    }
    if (due.length < AT_ONCE) return;
  }
}

/** @returns undefined when another server has it, or has told it */
async function take(app: App, id: number): Promise<Notice | undefined> {
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

/** @returns whether it arrived */
async function tellOne(app: App, notice: Notice): Promise<boolean> {
  try {
    if (notice.channel === "mail") await sendMail(app, notice.email, letterOf(app, notice));
    else await alert(app, notice);
  } catch (cause) {
    await putBack(app, notice, cause);
    return false;
  }
  await forget(app, notice);
  return true;
}

async function putBack(app: App, notice: Notice, cause: unknown): Promise<void> {
  const { id, email, token_prefix, attempts, created_at, type, expiration } = notice;
  const now = app.clock().getTime();
  const told = { email, token: token_prefix, notice: type, error: String(cause) };
  const isTooLate = type === "TokenExpiringSoon" && expiration.getTime() <= now;
  if (isTooLate || now - created_at.getTime() >= PATIENCE_MS) {
    app.log.warn(told, "the owner of a token that ends could not be mailed: given up");
    return forget(app, notice);
  }
  const again_in_ms = Math.round(backoffMs(BACKOFF, attempts));
  app.log.warn({ ...told, again_in_ms }, "the owner of a token that ends could not be mailed");
  const next_at = new Date(now + again_in_ms);
  await app.db.write((tx) => tx.update(tokenNotices).set({ next_at }).where(eq(tokenNotices.id, id)));
}

async function forget(app: App, { id }: Notice): Promise<void> {
  await app.db.write((tx) => tx.delete(tokenNotices).where(eq(tokenNotices.id, id)));
}

/** Raised again after a crash, it is the same alert: that is told once. */
function alert(app: App, notice: Notice): Promise<void> {
  const { type, email, workspace_id, token_prefix } = notice;
  const kind = type === "TokenExpired" ? "token_expired" : "token_expiring_soon";
  const message = `The token ${nameOf(notice)} of ${email} ${endOf(notice)}`;
  return raiseAlert(app, {
    kind,
    message,
    workspace_id: workspace_id ?? undefined,
    subject: token_prefix,
  });
}

function letterOf(app: App, notice: Notice): Letter {
  const { id, type, workspace_id, created_at } = notice;
  const place = workspace_id === null ? "" : ` for the workspace ${workspace_id}`;
  const url = app.urls.base;
  const [subject, advice] =
    type === "TokenExpired"
      ? ["has expired", "It was deleted: whatever still uses it is refused."]
      : ["is expiring soon", "Make a new one in time, and give it to whatever uses this one."];
  const host = URL.canParse(url) ? new URL(url).hostname : "localhost";
  return {
    ...letter(`svc: Your API token ${subject}`, [
      `Your API token${place} at ${url} ${endOf(notice)}:`,
      { code: nameOf(notice) },
      advice,
    ]),
    // The same at every attempt, so that mail systems know one that arrives twice (RFC 5322 §3.6.4).
    messageId: `<token-notice-${id}-${created_at.getTime()}@${host}>`,
  };
}

function nameOf({ token_prefix, label }: Notice): string {
  return `${token_prefix}*****${label === null ? "" : ` (${label})`}`;
}

function endOf({ type, expiration }: Notice): string {
  const at = expiration.toISOString();
  return type === "TokenExpired" ? `has expired at ${at}` : `expires at ${at}`;
}
