/**
 * What becomes of tokens by time: their owner is told once that one ends soon, and once that it has ended and is gone.
 *
 * A token is marked, or deleted, in the transaction that stores the event for the webhooks of its workspace (of all its
 * owner's, where it is bound to none) and a notice for each of the other ways to tell it. So each of these is stored
 * exactly once, whatever restarts and however many servers look after one database. How often what is stored then arrives: see src/features/accounts/tokens/token-expiry.ts.
 */
import { and, eq, gt, inArray, isNull, lte, or, type SQL } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import type { App } from "../../../platform/app/context.ts";
import { canMail } from "../../signals/mail/send.ts";
import { recordEvent } from "../../signals/webhooks/outbox.ts";
import { forgetTokens } from "../../tenancy/tokens/cache.ts";
import { isMachineLabel } from "../../tenancy/tokens/labels.ts";
import { capOf, endOf } from "../../tenancy/tokens/lifetime.ts";
import { tokenNotices, tokens } from "../../tenancy/tokens/tables.ts";
import { workspaceMembers, workspaces } from "../../tenancy/workspaces/tables.ts";

const DAY_MS = 24 * 3_600_000;
const SOON_MS = 7 * DAY_MS;
/** A cap that was set by mistake can be taken back for as long: until then what it ends is refused, and kept. */
const KEPT_MS = 7 * DAY_MS;
/** Tokens of one transaction. */
export const PIECE = 100;

type Token = typeof tokens.$inferSelect;
type NoticeType = (typeof tokenNotices.$inferSelect)["type"];

/** Deletes tokens that are over, and stores whom to tell. @returns how many it found, PIECE at most */
export async function endTokens(app: App): Promise<number> {
  const isOver = overAt(app, app.clock());
  const found = await app.db.read.select({ hash: tokens.hash }).from(tokens).where(isOver).limit(PIECE);
  if (found.length === 0) return 0;
  await app.db.write(async (tx) => {
    await tx.lock("token expiry");
    const ended = await tx
      .delete(tokens)
      .where(and(among(found), isOver))
      .returning();
    for (const token of ended) await tell(app, tx, "TokenExpired", token);
    tx.afterCommit(() =>
      forgetTokens(
        app,
        ended.map(({ hash }) => hash),
      ),
    );
  });
  return found.length;
}

/** Marks tokens that end soon, and stores whom to tell. @returns how many it found, PIECE at most */
export async function announceEnds(app: App): Promise<number> {
  const isDue = and(eq(tokens.kind, "user"), isNull(tokens.notified_at), soonAt(app, app.clock()));
  const found = await app.db.read.select({ hash: tokens.hash }).from(tokens).where(isDue).limit(PIECE);
  if (found.length === 0) return 0;
  await app.db.write(async (tx) => {
    await tx.lock("token expiry");
    const marked = await tx
      .update(tokens)
      .set({ notified_at: app.clock() })
      .where(and(among(found), isDue))
      .returning();
    for (const token of marked) await tell(app, tx, "TokenExpiringSoon", token);
  });
  return found.length;
}

function among(found: { hash: string }[]): SQL {
  return inArray(
    tokens.hash,
    found.map(({ hash }) => hash),
  );
}

function overAt(app: App, now: Date): SQL {
  const cap = capOf(app);
  const own = lte(tokens.expiration, now);
  return cap === undefined ? own : or(own, lte(tokens.created_at, before(now, cap + KEPT_MS)))!;
}

/** Not over yet, neither by itself nor by the cap, and one of them is near. */
function soonAt(app: App, now: Date): SQL {
  const cap = capOf(app);
  const soon = before(now, -SOON_MS);
  const ownHolds = gt(tokens.expiration, now);
  const ownSoon = lte(tokens.expiration, soon);
  if (cap === undefined) return and(ownHolds, ownSoon)!;
  return and(
    or(isNull(tokens.expiration), ownHolds),
    gt(tokens.created_at, before(now, cap)),
    or(ownSoon, lte(tokens.created_at, before(soon, cap))),
  )!;
}

function before(moment: Date, ms: number): Date {
  return new Date(moment.getTime() - ms);
}

async function tell(app: App, tx: Tx, type: NoticeType, token: Token): Promise<void> {
  const { email, prefix: token_prefix, label, workspace_id } = token;
  if (token.kind !== "user" || isMachineLabel(label)) return;
  const expiration = endOf(app, token)!;
  const told = { token_prefix, label: label ?? "", email, expiration: expiration.toISOString() };
  for (const workspace of workspace_id === null ? await workspacesOf(tx, email) : [workspace_id]) {
    await recordEvent(app, tx, workspace, { type, keys: { workspace, ...told } });
  }
  const now = app.clock();
  const notice = { type, email, token_prefix, label, workspace_id, expiration };
  const times = { created_at: now, next_at: now, attempts: 0 };
  if (canMail(app)) await tx.insert(tokenNotices).values({ ...notice, ...times, channel: "mail" });
  if (app.settings.get("critical_alerts_on_token_expiry")) {
    await tx.insert(tokenNotices).values({ ...notice, ...times, channel: "alert" });
  }
}

/** Where a token that is bound to no workspace answers: wherever its owner is an active member. */
async function workspacesOf(tx: Tx, email: string): Promise<string[]> {
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
