/**
 * Announces tokens that expire soon, and deletes expired ones. Owners are notified once before and once after.
 *
 * A token is marked or deleted in the transaction that stores the webhook event and one notice per other channel. The
 * event goes to the token's workspace, or to all workspaces of the owner. So each of them is stored exactly once,
 * despite restarts and several servers. `expiry-task.ts` describes how reliably they arrive.
 */
import { and, eq, gt, inArray, isNull, lte, or, type SQL } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import type { App } from "../../../platform/app/context.ts";
import { isMailConfigured } from "../../signals/mail/send.ts";
import { recordEvent } from "../../signals/webhooks/outbox.ts";
import { invalidateTokens } from "../../tenancy/tokens/cache.ts";
import { isMachineLabel } from "../../tenancy/tokens/labels.ts";
import { computeTokenExpiry, getMaxTokenAgeMs } from "../../tenancy/tokens/lifetime.ts";
import { tokenNotices, tokens } from "../../tenancy/tokens/tables.ts";
import { workspaceMembers, workspaces } from "../../tenancy/workspaces/tables.ts";

const DAY_MS = 24 * 3_600_000;
const NOTICE_PERIOD_MS = 7 * DAY_MS;
/** How long rejected tokens beyond the maximum age are kept, so that a maximum set by mistake can be corrected. */
const MAX_AGE_GRACE_MS = 7 * DAY_MS;
/** Tokens processed in one transaction. */
export const TOKEN_BATCH_SIZE = 100;

type TokenRow = typeof tokens.$inferSelect;
type NoticeType = (typeof tokenNotices.$inferSelect)["type"];

/** Deletes expired tokens and stores the notices. @returns how many were found, TOKEN_BATCH_SIZE at most */
export async function deleteExpiredTokens(app: App): Promise<number> {
  const isOver = isExpired(app, app.clock());
  const found = await app.db.read
    .select({ hash: tokens.hash })
    .from(tokens)
    .where(isOver)
    .limit(TOKEN_BATCH_SIZE);
  if (found.length === 0) return 0;
  await app.db.write(async (tx) => {
    await tx.lock("token expiry");
    const ended = await tx
      .delete(tokens)
      .where(and(hasHashIn(found), isOver))
      .returning();
    for (const token of ended) await recordNotices(app, tx, "TokenExpired", token);
    tx.afterCommit(() =>
      invalidateTokens(
        app,
        ended.map(({ hash }) => hash),
      ),
    );
  });
  return found.length;
}

/** Marks tokens that expire soon and stores the notices. @returns how many were found, TOKEN_BATCH_SIZE at most */
export async function announceExpiringTokens(app: App): Promise<number> {
  const isDue = and(eq(tokens.kind, "user"), isNull(tokens.notified_at), expiresSoon(app, app.clock()));
  const found = await app.db.read
    .select({ hash: tokens.hash })
    .from(tokens)
    .where(isDue)
    .limit(TOKEN_BATCH_SIZE);
  if (found.length === 0) return 0;
  await app.db.write(async (tx) => {
    await tx.lock("token expiry");
    const marked = await tx
      .update(tokens)
      .set({ notified_at: app.clock() })
      .where(and(hasHashIn(found), isDue))
      .returning();
    for (const token of marked) await recordNotices(app, tx, "TokenExpiringSoon", token);
  });
  return found.length;
}

function hasHashIn(found: { hash: string }[]): SQL {
  return inArray(
    tokens.hash,
    found.map(({ hash }) => hash),
  );
}

function isExpired(app: App, now: Date): SQL {
  const cap = getMaxTokenAgeMs(app);
  const own = lte(tokens.expiration, now);
  return cap === undefined ? own : or(own, lte(tokens.created_at, subtractMs(now, cap + MAX_AGE_GRACE_MS)))!;
}

/** Selects tokens that are still valid but expire soon, by their own expiration or by the maximum age. */
function expiresSoon(app: App, now: Date): SQL {
  const cap = getMaxTokenAgeMs(app);
  const soon = subtractMs(now, -NOTICE_PERIOD_MS);
  const ownHolds = gt(tokens.expiration, now);
  const ownSoon = lte(tokens.expiration, soon);
  if (cap === undefined) return and(ownHolds, ownSoon)!;
  return and(
    or(isNull(tokens.expiration), ownHolds),
    gt(tokens.created_at, subtractMs(now, cap)),
    or(ownSoon, lte(tokens.created_at, subtractMs(soon, cap))),
  )!;
}

function subtractMs(moment: Date, ms: number): Date {
  return new Date(moment.getTime() - ms);
}

async function recordNotices(app: App, tx: Tx, type: NoticeType, token: TokenRow): Promise<void> {
  const { email, prefix: token_prefix, label, workspace_id } = token;
  if (token.kind !== "user" || isMachineLabel(label)) return;
  const expiration = computeTokenExpiry(app, token)!;
  const told = { token_prefix, label: label ?? "", email, expiration: expiration.toISOString() };
  for (const workspace of workspace_id === null ? await listActiveWorkspaces(tx, email) : [workspace_id]) {
    await recordEvent(app, tx, workspace, { type, keys: { workspace, ...told } });
  }
  const now = app.clock();
  const notice = { type, email, token_prefix, label, workspace_id, expiration };
  const times = { created_at: now, next_at: now, attempts: 0 };
  if (isMailConfigured(app)) await tx.insert(tokenNotices).values({ ...notice, ...times, channel: "mail" });
  if (app.settings.get("critical_alerts_on_token_expiry")) {
    await tx.insert(tokenNotices).values({ ...notice, ...times, channel: "alert" });
  }
}

/** Lists the workspaces in which an unbound token is valid: those where its owner is an active member. */
async function listActiveWorkspaces(tx: Tx, email: string): Promise<string[]> {
  const rows = await tx
    .select({ id: workspaceMembers.workspace_id })
    .from(workspaceMembers)
    .innerJoin(workspaces, eq(workspaces.id, workspaceMembers.workspace_id))
    .where(
      and(
        eq(workspaceMembers.email, email),
        eq(workspaceMembers.disabled, false),
        eq(workspaces.archived, false),
      ),
    )
    .orderBy(workspaceMembers.workspace_id);
  return rows.map(({ id }) => id);
}
