/** Accounts at providers: what is kept of them, and who may use them. */
import { and, eq, inArray } from "drizzle-orm";
import { z } from "zod";
import type { Reader, Tx } from "../../../database/database.ts";
import { seal, unseal } from "../../../lib/crypto/seal.ts";
import { Forbidden, NotFound } from "../../../lib/errors.ts";
import type { App, WorkspaceContext } from "../../../platform/app/context.ts";
import { type OauthAccount, oauthAccounts } from "../account-tables.ts";
import { resources } from "../resource-tables.ts";
import { variables } from "../variable-tables.ts";
import { clientOf } from "./clients.ts";
import { revokeToken } from "./provider.ts";

/** Sealed with the instance key, so that a workspace whose key changes keeps its accounts. */
const BOUND = "oauth refresh token";

export function sealToken(app: App, token: string): string {
  return seal(app.instanceKey, token, BOUND);
}

/** Undefined when there is none, or it was sealed with another instance key. */
export function openToken(app: App, { refresh_token }: OauthAccount): string | undefined {
  return refresh_token === null ? undefined : unseal(app.instanceKey, refresh_token, BOUND);
}

/** How long a token is thought to hold when the provider does not say: an hour, as most do. */
export const USUAL_LIFETIME_S = 3600;

export interface NewAccount {
  client: string;
  refresh_token?: string | undefined;
  /** Seconds. */
  expires_in: number;
}

/** Keeps an account of the caller's. @returns its id. @throws NotFound for a client that is not set up */
export async function insertAccount(ctx: WorkspaceContext, tx: Tx, account: NewAccount): Promise<number> {
  const { app, caller } = ctx;
  clientOf(app, account.client, "connect");
  const now = app.clock();
  const [row] = await tx
    .insert(oauthAccounts)
    .values({
      workspace_id: caller.member.workspace_id,
      client: account.client,
      owner: caller.identity.email,
      refresh_token: account.refresh_token ? sealToken(app, account.refresh_token) : null,
      expires_at: new Date(now.getTime() + account.expires_in * 1000),
      lifetime_s: account.expires_in,
      created_at: now,
    })
    .returning({ id: oauthAccounts.id });
  return row!.id;
}

export async function findAccount(
  db: Reader,
  workspace_id: string,
  id: number,
): Promise<OauthAccount | undefined> {
  const [row] = await db
    .select()
    .from(oauthAccounts)
    .where(and(eq(oauthAccounts.workspace_id, workspace_id), eq(oauthAccounts.id, id)));
  return row;
}

/**
 * An account that the caller may use: their own, or any for an admin.
 * @throws NotFound, Forbidden
 */
export async function ownAccount(ctx: WorkspaceContext, db: Reader, id: number): Promise<OauthAccount> {
  const { member, identity } = ctx.caller;
  const account = Number.isSafeInteger(id) ? await findAccount(db, member.workspace_id, id) : undefined;
  if (!account) throw new NotFound(`OAuth account ${id} in workspace ${member.workspace_id}`);
  if (!member.is_admin && account.owner !== identity.email) {
    throw new Forbidden(`OAuth account ${id} was connected by somebody else`);
  }
  return account;
}

/** What the records of variables tell of their account. */
export const accountFields = {
  is_expired: z.boolean().optional(),
  /** Whether it is refreshed by itself. */
  is_refreshed: z.boolean().optional(),
  refresh_error: z.string().optional(),
};

type AccountFacts = z.output<z.ZodObject<typeof accountFields>>;

const MAX_ASKED = 500;

/** What is known of accounts, by id; an id that is no account's has no entry. */
export async function accountFacts(
  app: App,
  workspace_id: string,
  ids: readonly (number | null)[],
): Promise<Map<number, AccountFacts>> {
  const wanted = [...new Set(ids.filter((id) => id !== null))];
  const facts = new Map<number, AccountFacts>();
  for (let at = 0; at < wanted.length; at += MAX_ASKED) {
    const rows = await app.db.read
      .select()
      .from(oauthAccounts)
      .where(
        and(
          eq(oauthAccounts.workspace_id, workspace_id),
          inArray(oauthAccounts.id, wanted.slice(at, at + MAX_ASKED)),
        ),
      );
    for (const row of rows) {
      facts.set(row.id, {
        is_expired: row.expires_at <= app.clock(),
        is_refreshed: row.refresh_token !== null,
        ...(row.refresh_error !== null && { refresh_error: row.refresh_error }),
      });
    }
  }
  return facts;
}

/**
 * Forgets an account, here and at the provider where that is possible. The variables keep their last value.
 * @returns why the provider could not be told; undefined when it was, or need not be
 * @throws NotFound, Forbidden
 */
export async function disconnect(ctx: WorkspaceContext, id: number): Promise<string | undefined> {
  const { app } = ctx;
  const { workspace_id } = ctx.caller.member;
  const account = await ctx.write({ resource: String(id) }, async (tx) => {
    const found = await ownAccount(ctx, tx, id);
    await tx.delete(oauthAccounts).where(eq(oauthAccounts.id, id));
    for (const table of [variables, resources]) {
      await tx
        .update(table)
        .set({ account: null })
        .where(and(eq(table.workspace_id, workspace_id), eq(table.account, id)));
    }
    return found;
  });
  const token = openToken(app, account);
  if (token === undefined) return "there is no refresh token to revoke";
  try {
    const told = await revokeToken(app, clientOf(app, account.client, "connect"), token);
    return told ? undefined : `${account.client} offers no way to revoke a token`;
  } catch (error) {
    return (error as Error).message;
  }
}
