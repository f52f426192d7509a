/**
 * Keeping accounts' tokens fresh. Whoever reads the variable of an account whose token is about to expire has it
 * refreshed: one of them asks the provider, under a lease on the account's row, and all others wait for what comes of
 * it, in this process or in another one on the same database.
 */
import { and, eq, isNull, lte, or } from "drizzle-orm";
import { isOutage } from "../../../database/failure.ts";
import { perApp } from "../../../lib/async/per-app.ts";
import { BadRequest, SvcError, Unavailable } from "../../../lib/errors.ts";
import { newJobId } from "../../../lib/text/ids.ts";
import type { App } from "../../../platform/app/context.ts";
import { forgottenEverywhere } from "../../../platform/cluster/cache-invalidation.ts";
import { encryptSecret } from "../../tenancy/workspaces/secrets.ts";
import { type OauthAccount, oauthAccounts } from "../account-tables.ts";
import { type Variable, variables } from "../variable-tables.ts";
import { findAccount, openToken, sealToken, USUAL_LIFETIME_S } from "./accounts.ts";
import { clientOf } from "./clients.ts";
import { refreshTokens, type Tokens } from "./provider.ts";

/** A token is refreshed this long before it expires, or a quarter of its life when it is a short one. */
const AHEAD_S = 60;
/** After a failure the provider is left alone for a while, unless a person asks. */
const FAILURE_HOLDS_MS = 10_000;
/** Longer than the provider may take: then whoever holds the lease is gone. */
const LEASE_MS = 30_000;
/** Who waits for another server looks this often, should its word not come. */
const LOOK_MS = 500;
/** For what a provider has exchanged, which is lost if it is not stored. */
const STORE_FOR_MS = 3_600_000;
const MAX_PAUSE_MS = 5_000;
/** The longest that a reader waits for all of it. */
const READER_MS = 40_000;

/**
 * The variable as it stands once its account's token is fresh; any other variable as it is.
 * @throws BadRequest when the token has expired and the provider refuses to refresh it, Unavailable when it cannot be
 * asked
 */
export async function withFreshToken(app: App, variable: Variable): Promise<Variable> {
  if (variable.account === null) return variable;
  const { workspace_id, path } = variable;
  const account = await findAccount(app.db.read, workspace_id, variable.account);
  if (!account || account.refresh_token === null || !isStale(account, app.clock())) return variable;
  try {
    await refresh(app, account, { byPerson: false });
  } catch (error) {
    if (!(error instanceof SvcError) || account.expires_at <= app.clock()) throw error;
    // It holds for a little longer: the failure is kept on the account.
    return variable;
  }
  const [fresh] = await app.db.read
    .select()
    .from(variables)
    .where(and(eq(variables.workspace_id, workspace_id), eq(variables.path, path)));
  return fresh ?? variable;
}

function isStale({ expires_at, lifetime_s }: OauthAccount, now: Date): boolean {
  const ahead_s = Math.min(AHEAD_S, lifetime_s / 4);
  return expires_at.getTime() - now.getTime() <= ahead_s * 1000;
}

const running = perApp<App, Map<number, Promise<void>>>(() => new Map());

/**
 * Refreshes the account's token, or waits for whoever does so already.
 * @throws BadRequest when the provider refuses, Unavailable when it cannot be asked
 */
export function refresh(app: App, account: OauthAccount, how: { byPerson: boolean }): Promise<void> {
  const ours = running(app);
  const before = ours.get(account.id);
  if (before) return before;
  const turn = takeTurn(app, account, how).finally(() => {
    ours.delete(account.id);
    tellSettled(app, String(account.id));
  });
  const answered = withinTime(turn, account.id);
  ours.set(account.id, answered);
  return answered;
}

/** Readers are told; what was begun goes on. */
async function withinTime(turn: Promise<void>, id: number): Promise<void> {
  const { promise, reject } = Promise.withResolvers<never>();
  const late = () => reject(new Unavailable(`the token of OAuth account ${id} is still being refreshed`));
  const timer = setTimeout(late, READER_MS);
  try {
    await Promise.race([turn, promise]);
  } finally {
    clearTimeout(timer);
  }
}

const waiting = perApp<App, Map<string, Set<() => void>>>(() => new Map());

/** Ends the waiting of those, on all servers, who wait for what comes of an account. */
const tellSettled = forgottenEverywhere("oauth refresh", {
  forget: (app, id: string) => {
    for (const wake of waiting(app).get(id) ?? []) wake();
  },
  forgetAll: (app) => {
    for (const wakes of waiting(app).values()) for (const wake of wakes) wake();
  },
});

function untilSettled(app: App, id: string, at_most_ms: number): Promise<void> {
  return new Promise((resolve) => {
    const wakes = waiting(app).get(id) ?? new Set();
    waiting(app).set(id, wakes);
    const wake = () => {
      clearTimeout(timer);
      wakes.delete(wake);
      if (wakes.size === 0) waiting(app).delete(id);
      resolve();
    };
    wakes.add(wake);
    const timer = setTimeout(wake, at_most_ms);
  });
}

/** @param seen the account as it was when it was found to need this */
async function takeTurn(app: App, seen: OauthAccount, { byPerson }: { byPerson: boolean }): Promise<void> {
  for (;;) {
    const now = await findAccount(app.db.read, seen.workspace_id, seen.id);
    if (!now) throw new BadRequest(`OAuth account ${seen.id} has been disconnected`);
    if (isDone(app, seen, now, byPerson)) return;
    const held_ms = (now.lease_until?.getTime() ?? 0) - app.clock().getTime();
    const holder = newJobId();
    if (held_ms > 0) await untilSettled(app, String(now.id), Math.min(held_ms, LOOK_MS));
    else if (await takeLease(app, now, holder)) return ask(app, now, holder);
  }
}

/** Whether somebody else has refreshed it meanwhile. @throws what kept them from it, when that was just now */
function isDone(app: App, seen: OauthAccount, now: OauthAccount, byPerson: boolean): boolean {
  if (now.expires_at.getTime() !== seen.expires_at.getTime()) return true;
  if (now.failed_at === null || now.refresh_error === null) return false;
  const failedSince = now.failed_at.getTime() !== seen.failed_at?.getTime();
  const holds = now.failed_at.getTime() + FAILURE_HOLDS_MS > app.clock().getTime();
  if (failedSince || (holds && !byPerson))
    throw now.refused ? new BadRequest(now.refresh_error) : new Unavailable(now.refresh_error);
  return false;
}

/** Of all who try at once, on any server, one gets it. */
async function takeLease(app: App, account: OauthAccount, lease_holder: string): Promise<boolean> {
  const now = app.clock();
  const taken = await app.db.write((tx) =>
    tx
      .update(oauthAccounts)
      .set({ lease_holder, lease_until: new Date(now.getTime() + LEASE_MS) })
      .where(
        and(
          eq(oauthAccounts.id, account.id),
          eq(oauthAccounts.expires_at, account.expires_at),
          or(isNull(oauthAccounts.lease_until), lte(oauthAccounts.lease_until, now)),
        ),
      )
      .returning({ id: oauthAccounts.id }),
  );
  return taken.length > 0;
}

async function ask(app: App, account: OauthAccount, holder: string): Promise<void> {
  try {
    const token = openToken(app, account);
    if (token === undefined) {
      throw new BadRequest(
        `OAuth account ${account.id} has no refresh token that this server can read: connect it again`,
      );
    }
    const tokens = await refreshTokens(app, clientOf(app, account.client, "connect"), token);
    await storeSurely(app, account, holder, tokens);
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    if (await storeFailure(app, account, holder, error)) throw error;
    // Another server had exchanged the token, and could not store it before this one asked with the old one.
    const now = await findAccount(app.db.read, account.workspace_id, account.id);
    if (now?.expires_at.getTime() === account.expires_at.getTime()) throw error;
  }
}

/** The provider takes the old refresh token no more: what it gave instead is stored once the database can be used. */
async function storeSurely(app: App, account: OauthAccount, holder: string, tokens: Tokens): Promise<void> {
  const until = performance.now() + STORE_FOR_MS;
  for (let pause_ms = 100; ; pause_ms = Math.min(pause_ms * 2, MAX_PAUSE_MS)) {
    try {
      await store(app, account, holder, tokens);
      return;
    } catch (error) {
      if (!isOutage(error) || performance.now() > until) throw error;
      app.log.warn(
        { account: account.id, error: String(error) },
        "a refreshed OAuth token waits for the database",
      );
      await new Promise((resolve) => setTimeout(resolve, pause_ms).unref());
    }
  }
}

/** The account and all variables of it, together. A provider that rotates refresh tokens sends the next one along. */
async function store(app: App, account: OauthAccount, holder: string, tokens: Tokens): Promise<void> {
  const { id, workspace_id } = account;
  const lifetime_s = tokens.expires_in ?? (account.lifetime_s || USUAL_LIFETIME_S);
  await app.db.write(async (tx) => {
    const held = await tx
      .update(oauthAccounts)
      .set({
        expires_at: new Date(app.clock().getTime() + lifetime_s * 1000),
        lifetime_s,
        refresh_error: null,
        refused: false,
        failed_at: null,
        lease_holder: null,
        lease_until: null,
        ...(tokens.refresh_token && { refresh_token: sealToken(app, tokens.refresh_token) }),
      })
      .where(and(eq(oauthAccounts.id, id), or(eq(oauthAccounts.lease_holder, holder), isUnchanged(account))))
      .returning({ id: oauthAccounts.id });
    if (held.length === 0) throw new Unavailable(`OAuth account ${id} was disconnected meanwhile`);
    const sealed = await encryptSecret(app, tx, workspace_id, tokens.access_token);
    for (const is_secret of [true, false]) {
      await tx
        .update(variables)
        .set({ value: is_secret ? sealed : tokens.access_token })
        .where(
          and(
            eq(variables.workspace_id, workspace_id),
            eq(variables.account, id),
            eq(variables.is_secret, is_secret),
          ),
        );
    }
  });
}

/** Nobody has refreshed it since; a lease that has ended meanwhile says nothing of that. */
function isUnchanged({ refresh_token, expires_at }: OauthAccount) {
  return and(eq(oauthAccounts.refresh_token, refresh_token ?? ""), eq(oauthAccounts.expires_at, expires_at));
}

/** @returns false when the account is another server's by now */
async function storeFailure(
  app: App,
  account: OauthAccount,
  holder: string,
  error: SvcError,
): Promise<boolean> {
  const refresh_error = error.message;
  app.log.warn({ account: account.id, error: refresh_error }, "an OAuth account could not be refreshed");
  const refused = error instanceof BadRequest;
  const stored = await app.db.write((tx) =>
    tx
      .update(oauthAccounts)
      .set({ refresh_error, refused, failed_at: app.clock(), lease_holder: null, lease_until: null })
      .where(and(eq(oauthAccounts.id, account.id), eq(oauthAccounts.lease_holder, holder)))
      .returning({ id: oauthAccounts.id }),
  );
  return stored.length > 0;
}
