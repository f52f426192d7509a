/**
 * Refreshes access tokens of OAuth accounts. Reading a variable whose token is about to expire triggers the refresh.
 * One reader asks the provider, under a lease on the account's row; all others wait for its result, on this server or
 * another one.
 */
import { and, eq, isNull, lte, or } from "drizzle-orm";
import { isOutage } from "../../../database/failure.ts";
import { memoizePerApp } from "../../../lib/async/per-app.ts";
import { type Backoff, retryWithBackoff } from "../../../lib/async/retry.ts";
import { sleep, withTimeout } from "../../../lib/async/sleep.ts";
import { BadRequest, SvcError, Unavailable } from "../../../lib/errors.ts";
import { createUuid } from "../../../lib/text/ids.ts";
import type { App } from "../../../platform/app/context.ts";
import { defineInvalidation } from "../../../platform/cluster/cache-invalidation.ts";
import { encryptSecret } from "../../tenancy/workspaces/secrets.ts";
import { type OauthAccount, oauthAccounts } from "../account-tables.ts";
import { type Variable, variables } from "../variable-tables.ts";
import {
  DEFAULT_TOKEN_LIFETIME_S,
  decryptRefreshToken,
  encryptRefreshToken,
  findAccount,
} from "./accounts.ts";
import { getClient } from "./oauth-clients.ts";
import { type ProviderTokens, refreshTokens } from "./oauth-protocol.ts";

/** A token is refreshed this long before it expires, or after three quarters of a shorter lifetime. */
const REFRESH_AHEAD_S = 60;
/** After a failure, only requests by people ask the provider again within this time. */
const FAILURE_BACKOFF_MS = 10_000;
/** Lease on an account; longer than the provider may take. */
const LEASE_MS = 30_000;
/** Poll interval while waiting for another server, in case its notification is lost. */
const POLL_INTERVAL_MS = 500;
/** How long storing new tokens is retried, since the provider has already invalidated the old ones. */
const STORE_RETRY_MS = 3_600_000;
const STORE_BACKOFF: Backoff = { first_ms: 100, max_ms: 5_000 };
/** Longest time a reader waits for a refresh. */
const READER_TIMEOUT_MS = 40_000;

/**
 * Returns the variable with a fresh token, if it belongs to an account; other variables unchanged.
 * @throws BadRequest if the token has expired and the provider refuses the refresh, Unavailable if it cannot be reached
 */
export async function ensureFreshToken(app: App, variable: Variable): Promise<Variable> {
  if (variable.account === null) return variable;
  const { workspace_id, path } = variable;
  const account = await findAccount(app.db.read, workspace_id, variable.account);
  if (!account || account.refresh_token === null || !isStale(account, app.clock())) return variable;
  try {
    await refreshAccountToken(app, account, { byPerson: false });
  } catch (error) {
    if (!(error instanceof SvcError) || account.expires_at <= app.clock()) throw error;
    // The token is still valid; the error is stored on the account.
    return variable;
  }
  const [fresh] = await app.db.read
    .select()
    .from(variables)
    .where(and(eq(variables.workspace_id, workspace_id), eq(variables.path, path)));
  return fresh ?? variable;
}

function isStale({ expires_at, lifetime_s }: OauthAccount, now: Date): boolean {
  const ahead_s = Math.min(REFRESH_AHEAD_S, lifetime_s / 4);
  return expires_at.getTime() - now.getTime() <= ahead_s * 1000;
}

const runningRefreshes = memoizePerApp<App, Map<number, Promise<void>>>(() => new Map());

/**
 * Refreshes the account's token, or joins a running refresh.
 * @throws BadRequest if the provider refuses, Unavailable if it cannot be reached
 */
export function refreshAccountToken(
  app: App,
  account: OauthAccount,
  how: { byPerson: boolean },
): Promise<void> {
  const ours = runningRefreshes(app);
  const before = ours.get(account.id);
  if (before) return before;
  const turn = refreshOrWait(app, account, how).finally(() => {
    ours.delete(account.id);
    notifyRefreshed(app, String(account.id));
  });
  const late = () => new Unavailable(`the token of OAuth account ${account.id} is still being refreshed`);
  // The refresh itself continues.
  const answered = withTimeout(READER_TIMEOUT_MS, turn, late);
  ours.set(account.id, answered);
  return answered;
}

const refreshWaiters = memoizePerApp<App, Map<string, Set<() => void>>>(() => new Map());

/** Wakes everybody waiting for the account's refresh, on all servers. */
const notifyRefreshed = defineInvalidation("oauth refresh", {
  forget: (app, id: string) => {
    for (const wake of refreshWaiters(app).get(id) ?? []) wake();
  },
  forgetAll: (app) => {
    for (const wakes of refreshWaiters(app).values()) for (const wake of wakes) wake();
  },
});

async function awaitRefresh(app: App, id: string, at_most_ms: number): Promise<void> {
  const wakes = refreshWaiters(app).get(id) ?? new Set();
  refreshWaiters(app).set(id, wakes);
  const refreshed = new AbortController();
  const wake = () => refreshed.abort();
  wakes.add(wake);
  await sleep(at_most_ms, refreshed.signal);
  wakes.delete(wake);
  if (wakes.size === 0) refreshWaiters(app).delete(id);
}

/** Refreshes the account, or waits until another server has. @param seen the account when the need was found */
async function refreshOrWait(
  app: App,
  seen: OauthAccount,
  { byPerson }: { byPerson: boolean },
): Promise<void> {
  for (;;) {
    const now = await findAccount(app.db.read, seen.workspace_id, seen.id);
    if (!now) throw new BadRequest(`OAuth account ${seen.id} has been disconnected`);
    if (isRefreshedElsewhere(app, seen, now, byPerson)) return;
    const held_ms = (now.lease_until?.getTime() ?? 0) - app.clock().getTime();
    const holder = createUuid();
    if (held_ms > 0) await awaitRefresh(app, String(now.id), Math.min(held_ms, POLL_INTERVAL_MS));
    else if (await acquireLease(app, now, holder)) return refreshAtProvider(app, now, holder);
  }
}

/** Whether another server has refreshed it. @throws that server's error, if its refresh failed just now */
function isRefreshedElsewhere(app: App, seen: OauthAccount, now: OauthAccount, byPerson: boolean): boolean {
  if (now.expires_at.getTime() !== seen.expires_at.getTime()) return true;
  if (now.failed_at === null || now.refresh_error === null) return false;
  const failedSince = now.failed_at.getTime() !== seen.failed_at?.getTime();
  const holds = now.failed_at.getTime() + FAILURE_BACKOFF_MS > app.clock().getTime();
  if (failedSince || (holds && !byPerson))
    throw now.refused ? new BadRequest(now.refresh_error) : new Unavailable(now.refresh_error);
  return false;
}

/** Acquires the lease; among concurrent callers on all servers, one succeeds. */
async function acquireLease(app: App, account: OauthAccount, lease_holder: string): Promise<boolean> {
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

async function refreshAtProvider(app: App, account: OauthAccount, holder: string): Promise<void> {
  try {
    const token = decryptRefreshToken(app, account);
    if (token === undefined) {
      throw new BadRequest(
        `OAuth account ${account.id} has no refresh token that this server can read: connect it again`,
      );
    }
    const tokens = await refreshTokens(app, getClient(app, account.client, "connect"), token);
    await storeWithRetry(app, account, holder, tokens);
  } catch (error) {
    if (!(error instanceof SvcError)) throw error;
    if (await storeFailure(app, account, holder, error)) throw error;
    // Another server had already exchanged the token when this one sent the old one, but stored it later.
    const now = await findAccount(app.db.read, account.workspace_id, account.id);
    if (now?.expires_at.getTime() === account.expires_at.getTime()) throw error;
  }
}

/** Stores the new tokens, with retries while the database is down: the old refresh token is no longer valid. */
async function storeWithRetry(
  app: App,
  account: OauthAccount,
  holder: string,
  tokens: ProviderTokens,
): Promise<void> {
  const until = performance.now() + STORE_RETRY_MS;
  const isRetryable = (error: unknown) => isOutage(error) && performance.now() <= until;
  const onRetry = (error: unknown) =>
    app.log.warn(
      { account: account.id, error: String(error) },
      "a refreshed OAuth token waits for the database",
    );
  await retryWithBackoff({ backoff: STORE_BACKOFF, isRetryable, onRetry }, () =>
    storeTokens(app, account, holder, tokens),
  );
}

/** Stores the tokens in the account and all its variables. A rotated refresh token replaces the old one. */
async function storeTokens(
  app: App,
  account: OauthAccount,
  holder: string,
  tokens: ProviderTokens,
): Promise<void> {
  const { id, workspace_id } = account;
  const lifetime_s = tokens.expires_in ?? (account.lifetime_s || DEFAULT_TOKEN_LIFETIME_S);
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
        ...(tokens.refresh_token && { refresh_token: encryptRefreshToken(app, tokens.refresh_token) }),
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

/** SQL condition: the account was not refreshed since it was read, even if its lease has expired. */
function isUnchanged({ refresh_token, expires_at }: OauthAccount) {
  return and(eq(oauthAccounts.refresh_token, refresh_token ?? ""), eq(oauthAccounts.expires_at, expires_at));
}

/** Stores the error of a refresh. @returns false if another server holds the lease now */
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
