/** OAuth accounts: storing them, checking who may use them, and their status. */
import { and, eq, inArray } from "drizzle-orm";
import type { Reader, Tx } from "../../../database/database.ts";
import { decryptText, encryptText } from "../../../lib/crypto/seal.ts";
import { Forbidden, NotFound } from "../../../lib/errors.ts";
import * as z from "../../../lib/zod/z.ts";
import type { App, WorkspaceContext } from "../../../platform/app/context.ts";
import { type OauthAccount, oauthAccounts } from "../account-tables.ts";
import { resources } from "../resource-tables.ts";
import { variables } from "../variable-tables.ts";
import { getClient } from "./oauth-clients.ts";
import { revokeProviderToken } from "./oauth-protocol.ts";

/**
 * Purpose of encrypted refresh tokens. They use the instance key, so rotating a workspace's key does not affect them.
 */
const TOKEN_PURPOSE = "oauth refresh token";

export function encryptRefreshToken(app: App, token: string): string {
  return encryptText(app.instanceKey, token, TOKEN_PURPOSE);
}

/** Returns the refresh token; undefined if there is none, or another instance key encrypted it. */
export function decryptRefreshToken(app: App, { refresh_token }: OauthAccount): string | undefined {
  return refresh_token === null ? undefined : decryptText(app.instanceKey, refresh_token, TOKEN_PURPOSE);
}

/** Assumed lifetime of a token if the provider sends none: an hour, as is common. */
export const DEFAULT_TOKEN_LIFETIME_S = 3600;

export interface NewAccount {
  client: string;
  refresh_token?: string | undefined;
  /** Lifetime of the access token, in seconds. */
  expires_in: number;
}

/** Stores an account of the caller. @returns its id. @throws NotFound for an unconfigured client */
export async function insertAccount(ctx: WorkspaceContext, tx: Tx, account: NewAccount): Promise<number> {
  const { app, caller } = ctx;
  getClient(app, account.client, "connect");
  const now = app.clock();
  const [row] = await tx
    .insert(oauthAccounts)
    .values({
      workspace_id: caller.member.workspace_id,
      client: account.client,
      owner: caller.identity.email,
      refresh_token: account.refresh_token ? encryptRefreshToken(app, account.refresh_token) : null,
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

/** Returns an account the caller may use: their own, or any for an admin. @throws NotFound, Forbidden */
export async function getOwnAccount(ctx: WorkspaceContext, db: Reader, id: number): Promise<OauthAccount> {
  const { member, identity } = ctx.caller;
  const account = Number.isSafeInteger(id) ? await findAccount(db, member.workspace_id, id) : undefined;
  if (!account) throw new NotFound(`OAuth account ${id} in workspace ${member.workspace_id}`);
  if (!member.is_admin && account.owner !== identity.email) {
    throw new Forbidden(`OAuth account ${id} was connected by somebody else`);
  }
  return account;
}

/** Fields about the account in records of variables and resources. */
export const accountFieldSchemas = {
  is_expired: z.boolean().optional(),
  /** True if the token is refreshed automatically. */
  is_refreshed: z.boolean().optional(),
  refresh_error: z.string().optional(),
};

type AccountStatus = z.output<z.ZodObject<typeof accountFieldSchemas>>;

const BATCH_SIZE = 500;

/** Returns the status of accounts by id; unknown ids have no entry. */
export async function readAccountStatus(
  app: App,
  workspace_id: string,
  ids: readonly (number | null)[],
): Promise<Map<number, AccountStatus>> {
  const wanted = [...new Set(ids.filter((id) => id !== null))];
  const facts = new Map<number, AccountStatus>();
  for (let at = 0; at < wanted.length; at += BATCH_SIZE) {
    const rows = await app.db.read
      .select()
      .from(oauthAccounts)
      .where(
        and(
          eq(oauthAccounts.workspace_id, workspace_id),
          inArray(oauthAccounts.id, wanted.slice(at, at + BATCH_SIZE)),
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
 * Deletes an account, and revokes its token at the provider if possible. Variables keep their last value.
 * @returns why the token was not revoked; undefined if it was
 * @throws NotFound, Forbidden
 */
export async function disconnectOauthAccount(ctx: WorkspaceContext, id: number): Promise<string | undefined> {
  const { app } = ctx;
  const { workspace_id } = ctx.caller.member;
  const account = await ctx.write({ resource: String(id) }, async (tx) => {
    const found = await getOwnAccount(ctx, tx, id);
    await tx.delete(oauthAccounts).where(eq(oauthAccounts.id, id));
    for (const table of [variables, resources]) {
      await tx
        .update(table)
        .set({ account: null })
        .where(and(eq(table.workspace_id, workspace_id), eq(table.account, id)));
    }
    return found;
  });
  const token = decryptRefreshToken(app, account);
  if (token === undefined) return "there is no refresh token to revoke";
  try {
    const told = await revokeProviderToken(app, getClient(app, account.client, "connect"), token);
    return told ? undefined : `${account.client} offers no way to revoke a token`;
  } catch (error) {
    return (error as Error).message;
  }
}
