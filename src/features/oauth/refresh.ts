/**
 * Keeping accounts' tokens fresh. Whoever reads the variable of an account whose token is about to expire has it
 * refreshed: one of them asks the provider, under a lease on the account's row, and all others wait for what comes of
 * it, in this process or in another one on the same database.
 */
import { and, eq, isNull, lte, or } from "drizzle-orm";
import type { App } from "../../context.ts";
import { BadRequest, SvcError, Unavailable } from "../../errors.ts";
import { newJobId } from "../../lib/ids.ts";
import { perApp } from "../../lib/per-app.ts";
import { type Variable, variables } from "../variables/tables.ts";
import { encryptSecret } from "../workspaces/secrets.ts";
import { findAccount, openToken, sealToken, USUAL_LIFETIME_S } from "./accounts.ts";
import { clientOf } from "./clients.ts";
import { refreshTokens, type Tokens } from "./provider.ts";
import { type OauthAccount, oauthAccounts } from "./tables.ts";

/** A token is refreshed this long before it expires, or a quarter of its life when it is a short one. */
const AHEAD_S = 60;
/** After a failure the provider is left alone for a while, unless a person asks. */
const FAILURE_HOLDS_MS = 10_000;
/** Longer than the provider may take: then whoever holds the lease is gone. */
const LEASE_MS = 30_000;
const LOOK_MS = 50;

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
  const turn = takeTurn(app, account, how).finally(() => ours.delete(account.id));
  ours.set(account.id, turn);
  return turn;
}

/** @param seen the account as it was when it was found to need this */
async function takeTurn(app: App, seen: OauthAccount, { byPerson }: { byPerson: boolean }): Promise<void> {
  for (;;) {
    const now = await findAccount(app.db.read, seen.workspace_id, seen.id);
    if (!now) throw new BadRequest(`OAuth account ${seen.id} has been disconnected`);
    if (isDone(app, seen, now, byPerson)) return;
    const holder = newJobId();
    if (await takeLease(app, now, holder)) return ask(app, now, holder);
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
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
    await store(app, account, holder, tokens);
  } catch (error) {
    if (error instanceof SvcError) await storeFailure(app, account, holder, error);
    throw error;
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
      .where(and(eq(oauthAccounts.id, id), eq(oauthAccounts.lease_holder, holder)))
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

async function storeFailure(app: App, account: OauthAccount, holder: string, error: SvcError): Promise<void> {
  const refresh_error = error.message;
  app.log.warn({ account: account.id, error: refresh_error }, "an OAuth account could not be refreshed");
  const refused = error instanceof BadRequest;
  await app.db.write((tx) =>
    tx
      .update(oauthAccounts)
      .set({ refresh_error, refused, failed_at: app.clock(), lease_holder: null, lease_until: null })
      .where(and(eq(oauthAccounts.id, account.id), eq(oauthAccounts.lease_holder, holder))),
  );
}
