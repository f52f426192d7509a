/** Sessions: logging in, going on, and ending them everywhere. */

import { eq } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import { BadRequest, Forbidden } from "../../../lib/errors.ts";
import type { App, Context, UserContext } from "../../../platform/app/context.ts";
import { retireChildren } from "../../../platform/cluster/processes.ts";
import { users } from "../../tenancy/people/user-tables.ts";
import { forgetTokens } from "../../tenancy/tokens/cache.ts";
import { issueToken, revokeSessions } from "../../tenancy/tokens/service.ts";
import { tokens } from "../../tenancy/tokens/tables.ts";
import { joinByDomain } from "../members/joining/auto-invite.ts";
import { isPassword } from "../users/passwords.ts";
import { deviceOf, type Session } from "./cookies.ts";
import { type Origin, takeAttempt } from "./login-throttle.ts";

/** Where a login came from, as far as transport and browser tell. */
export function originOf(request: Request): Origin {
  return { address: (request as { ip?: string }).ip ?? "unknown", device: deviceOf(request) };
}

/**
 * Checks the password and opens a session.
 * @throws Forbidden where nobody logs in with a password
 * @throws BadRequest with one text for a wrong password, an unknown e-mail and people who log in elsewhere;
 * TooManyRequests
 */
export async function login(
  ctx: Context,
  body: { email: string; password: string },
  origin: Origin,
): Promise<Session & { email: string }> {
  const { app } = ctx;
  if (app.settings.get("disable_password_login")) {
    throw new Forbidden("nobody logs in with a password here (setting disable_password_login)", {
      hint: "log in with a provider: GET /api/oauth/list_logins names them",
    });
  }
  const email = body.email.trim().toLowerCase();
  const giveBack = takeAttempt(app, email, origin);
  const [user] = await app.db.read.select().from(users).where(eq(users.email, email));
  const hash = user?.login_type === "password" ? user.password_hash : null;
  if (!(await isPassword(app, body.password, hash))) throw new BadRequest("Invalid login");
  giveBack();
  const session = await ctx.write({ resource: email, by: email }, async (tx) => {
    if (app.config.invalidate_old_sessions === "true") await revokeSessions(app, tx, email, undefined);
    await joinByDomain(app, tx, email);
    return beginSession(app, tx, email, hash);
  });
  return { ...session, email };
}

/**
 * Stores a session that lasts as long as the configuration says, and that the account was logged in to.
 * @param hash what the password was checked against, when it was
 * @throws BadRequest when the password was changed, or the account deleted, meanwhile
 */
export async function beginSession(app: App, tx: Tx, email: string, hash: string | null): Promise<Session> {
  const [user] = await tx
    .select({ first: users.first_time_user, hash: users.password_hash })
    .from(users)
    .where(eq(users.email, email));
  if (!user || (hash !== null && user.hash !== hash)) throw new BadRequest("Invalid login");
  if (user.first) await tx.update(users).set({ first_time_user: false }).where(eq(users.email, email));
  return { token: await openSession(app, tx, email), is_first: user.first };
}

function openSession(app: App, tx: Tx, email: string): Promise<string> {
  const expiration = new Date(app.clock().getTime() + app.config.session_s * 1000);
  return issueToken(app, tx, { email, label: "session", expiration, kind: "session" });
}

/**
 * A new session for the caller. The presented one keeps its time: other windows of the same browser may hold it still.
 * @returns undefined when the presented token lasts long enough still
 * @throws Forbidden for a token that is bound to scopes or to a workspace
 */
export async function refreshSession(
  ctx: UserContext,
  if_expiring_in_less_than_s: number | undefined,
): Promise<string | undefined> {
  const { app } = ctx;
  const { email, token } = requireWholeToken(ctx, "opens no session");
  const remains = token.expiration ? token.expiration.getTime() - app.clock().getTime() : Infinity;
  if (if_expiring_in_less_than_s !== undefined && remains >= if_expiring_in_less_than_s * 1000) {
    return undefined;
  }
  return ctx.write({ resource: token.prefix }, async (tx) => {
    return openSession(app, tx, email);
  });
}

/**
 * Ends every session of a person and its idle script processes, those that run a job once it has ended.
 * @param present the caller's own token: when it was a session of that person, another takes its place
 * @returns the new session
 */
export async function endSessions(
  app: App,
  tx: Tx,
  email: string,
  present: UserContext["caller"]["identity"],
): Promise<string | undefined> {
  await revokeSessions(app, tx, email, undefined);
  tx.afterCommit(() => retireChildren(app, { email }));
  const isOwn = present.email === email && present.token?.label === "session";
  return isOwn ? openSession(app, tx, email) : undefined;
}

/**
 * The caller's unrestricted token: what could be made of a restricted one would reach further than it does.
 * @throws Forbidden, BadRequest for the machine's operator, who has none
 */
export function requireWholeToken(ctx: UserContext, does: string) {
  const { email, token } = ctx.caller.identity;
  if (!token) throw new BadRequest("the machine's operator is no user: log in as one");
  refuseRestricted(ctx, does);
  return { email, token };
}

/**
 * For what gives somebody another way in, or more rights on the instance: a restricted token could else be turned into
 * one that is not.
 * @throws Forbidden for a restricted token
 */
export function refuseRestricted({ caller }: UserContext, does: string): void {
  const { token } = caller.identity;
  if (!token?.scopes?.length && token?.workspace_id === undefined && !token?.job) return;
  throw new Forbidden(`a token bound to scopes, a workspace or a job ${does}`);
}

/** What is remembered of the person's tokens is asked for anew: their rights have changed. */
export async function forgetIdentity(app: App, tx: Tx, email: string): Promise<void> {
  const known = await tx.select({ hash: tokens.hash }).from(tokens).where(eq(tokens.email, email));
  tx.afterCommit(() =>
    forgetTokens(
      app,
      known.map(({ hash }) => hash),
    ),
  );
}

/** Deletes every token of a person, sessions included. @returns how many */
export async function deleteAllTokens(app: App, tx: Tx, email: string): Promise<number> {
  const ended = await tx.delete(tokens).where(eq(tokens.email, email)).returning({ hash: tokens.hash });
  tx.afterCommit(() =>
    forgetTokens(
      app,
      ended.map(({ hash }) => hash),
    ),
  );
  return ended.length;
}
