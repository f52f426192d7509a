/** Sessions: logging in, refreshing a session, and revoking all sessions of a user. */

import { eq } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import { BadRequest, Forbidden } from "../../../lib/errors.ts";
import type { App, Context, UserContext } from "../../../platform/app/context.ts";
import { retireProcesses } from "../../../platform/cluster/processes.ts";
import { users } from "../../tenancy/people/user-tables.ts";
import { invalidateTokens } from "../../tenancy/tokens/cache.ts";
import { issueToken, revokeSessions } from "../../tenancy/tokens/service.ts";
import { tokens } from "../../tenancy/tokens/tables.ts";
import { joinByDomain } from "../members/joining/auto-invite.ts";
import { verifyPassword } from "../users/passwords.ts";
import { readDeviceCookie, type Session } from "./cookies.ts";
import { consumeAttempt, type LoginOrigin } from "./login-throttle.ts";

/** Returns the origin of a login attempt: the client's address and device cookie. */
export function getLoginOrigin(request: Request): LoginOrigin {
  return { address: (request as { ip?: string }).ip ?? "unknown", device: readDeviceCookie(request) };
}

/**
 * Checks the password and starts a session.
 * @throws Forbidden if password logins are disabled
 * @throws BadRequest with the same text for a wrong password, an unknown e-mail and a user of a provider;
 * TooManyRequests
 */
export async function loginWithPassword(
  ctx: Context,
  body: { email: string; password: string },
  origin: LoginOrigin,
): Promise<Session & { email: string }> {
  const { app } = ctx;
  if (app.settings.get("disable_password_login")) {
    throw new Forbidden("logins with a password are disabled (setting disable_password_login)", {
      hint: "log in with a provider: GET /api/oauth/list_logins names them",
    });
  }
  const email = body.email.trim().toLowerCase();
  const refundAttempt = consumeAttempt(app, email, origin);
  const [user] = await app.db.read.select().from(users).where(eq(users.email, email));
  const hash = user?.login_type === "password" ? user.password_hash : null;
  if (!(await verifyPassword(app, body.password, hash))) throw new BadRequest("Invalid login");
  refundAttempt();
  const session = await ctx.write({ resource: email, actor_email: email }, async (tx) => {
    if (app.config.invalidate_old_sessions === "true") await revokeSessions(app, tx, email, undefined);
    await joinByDomain(app, tx, email);
    return startSession(app, tx, email, hash);
  });
  return { ...session, email };
}

/**
 * Stores a new session with the configured lifetime, and marks the account as logged in.
 * @param hash the password hash that was checked, or null for another login type
 * @throws BadRequest if the password was changed, or the account deleted, in the meantime
 */
export async function startSession(app: App, tx: Tx, email: string, hash: string | null): Promise<Session> {
  const [user] = await tx
    .select({ first: users.first_time_user, hash: users.password_hash })
    .from(users)
    .where(eq(users.email, email));
  if (!user || (hash !== null && user.hash !== hash)) throw new BadRequest("Invalid login");
  if (user.first) await tx.update(users).set({ first_time_user: false }).where(eq(users.email, email));
  return { token: await issueSessionToken(app, tx, email), is_first: user.first };
}

function issueSessionToken(app: App, tx: Tx, email: string): Promise<string> {
  const expiration = new Date(app.clock().getTime() + app.config.session_s * 1000);
  return issueToken(app, tx, { email, label: "session", expiration, kind: "session" });
}

/**
 * Creates a new session for the caller. The presented one stays valid, since other windows of the browser may use it.
 * @returns undefined if the presented token lasts long enough
 * @throws Forbidden for a token bound to scopes or to a workspace
 */
export async function refreshSession(
  ctx: UserContext,
  if_expiring_in_less_than_s: number | undefined,
): Promise<string | undefined> {
  const { app } = ctx;
  const { email, token } = requireUnrestrictedToken(ctx, "opens no session");
  const remains = token.expiration ? token.expiration.getTime() - app.clock().getTime() : Infinity;
  if (if_expiring_in_less_than_s !== undefined && remains >= if_expiring_in_less_than_s * 1000) {
    return undefined;
  }
  return ctx.write({ resource: token.prefix }, async (tx) => {
    return issueSessionToken(app, tx, email);
  });
}

/**
 * Revokes all sessions of a user and retires their script processes: idle ones at once, others after their job.
 * @param present the caller's own identity: if it used a session of that user, a new session replaces it
 * @returns the new session
 */
export async function revokeAllSessions(
  app: App,
  tx: Tx,
  email: string,
  present?: UserContext["caller"]["identity"],
): Promise<string | undefined> {
  await revokeSessions(app, tx, email, undefined);
  tx.afterCommit(() => retireProcesses(app, { email }));
  const isOwn = present?.email === email && present.token?.label === "session";
  return isOwn ? issueSessionToken(app, tx, email) : undefined;
}

/**
 * Returns the caller's unrestricted token. A restricted token must not create anything with more rights than its own.
 * @throws Forbidden, BadRequest for the local admin, who has no token
 */
export function requireUnrestrictedToken(ctx: UserContext, does: string) {
  const { email, token } = ctx.caller.identity;
  if (!token) throw new BadRequest("the local admin is not a user: log in as one");
  requireUnrestricted(ctx, does);
  return { email, token };
}

/**
 * Rejects restricted tokens for operations that create credentials or raise rights; otherwise such a token could be
 * used to obtain an unrestricted one.
 * @throws Forbidden for a restricted token
 */
export function requireUnrestricted({ caller }: UserContext, does: string): void {
  const { token } = caller.identity;
  if (!token?.scopes?.length && token?.workspace_id === undefined && !token?.job) return;
  throw new Forbidden(`a token bound to scopes, a workspace or a job ${does}`);
}

/** Invalidates the cached identities of a user's tokens after their rights changed. */
export async function invalidateIdentity(app: App, tx: Tx, email: string): Promise<void> {
  const known = await tx.select({ hash: tokens.hash }).from(tokens).where(eq(tokens.email, email));
  tx.afterCommit(() =>
    invalidateTokens(
      app,
      known.map(({ hash }) => hash),
    ),
  );
}

/** Deletes all tokens of a user, sessions included. @returns how many */
export async function deleteAllTokens(app: App, tx: Tx, email: string): Promise<number> {
  const ended = await tx.delete(tokens).where(eq(tokens.email, email)).returning({ hash: tokens.hash });
  tx.afterCommit(() =>
    invalidateTokens(
      app,
      ended.map(({ hash }) => hash),
    ),
  );
  return ended.length;
}
