/** Tokens that users create, list and delete. */
import { and, desc, eq, isNull, not, or } from "drizzle-orm";
import { startsWith } from "../../../database/conditions.ts";
import { BadRequest, Forbidden, NotFound } from "../../../lib/errors.ts";
import { parseEmail } from "../../../lib/text/paths.ts";
import type { App, UserContext } from "../../../platform/app/context.ts";
import { toLimitOffset } from "../../../platform/http/operation.ts";
import { users } from "../people/user-tables.ts";
import { workspaces } from "../workspaces/tables.ts";
import { invalidateTokens } from "./cache.ts";
import { isMachineLabel } from "./labels.ts";
import { computeTokenExpiry, requireValidExpiration, type TokenLifetime } from "./lifetime.ts";
import { isScopeSubset, requireValidScope } from "./scopes.ts";
import { issueToken, type NewToken } from "./service.ts";
import { TOKEN_PREFIX_CHARS, tokens } from "./tables.ts";

/** Label of job tokens. */
const EPHEMERAL_LABEL = "ephemeral-script";

/**
 * Creates a token for the caller. A token bound to a workspace can only create tokens for that workspace.
 * @throws BadRequest for an invalid scope or an expiration in the past; Forbidden if it would exceed the caller's
 * rights
 */
export async function createToken(ctx: UserContext, body: Omit<NewToken, "email" | "kind">): Promise<string> {
  const { email, token: own } = ctx.caller.identity;
  if (own?.job)
    throw new Forbidden("a job's token expires with its job, so it cannot create one that lasts longer");
  const token = { ...body, workspace_id: body.workspace_id ?? own?.workspace_id };
  const expiration = requireAllowedToken(ctx, token);
  if (own?.workspace_id !== undefined && own.workspace_id !== token.workspace_id) {
    throw new Forbidden(`the new token must be bound to workspace ${own.workspace_id}, as the caller's is`);
  }
  return storeToken(ctx, { ...token, expiration, email });
}

/** Creates a token for another user; for super admins. @throws as `createToken`, and NotFound for an unknown user */
export async function createTokenFor(
  ctx: UserContext,
  body: Omit<NewToken, "email" | "kind"> & { impersonate_email: string },
): Promise<string> {
  const expiration = requireAllowedToken(ctx, body);
  const { impersonate_email, ...token } = body;
  const email = parseEmail(impersonate_email);
  return storeToken(ctx, { ...token, expiration, email });
}

/** Checks that the caller may create such a token. @returns when the new token expires; undefined: never */
function requireAllowedToken(ctx: UserContext, body: Omit<NewToken, "email" | "kind">): Date | undefined {
  for (const scope of body.scopes ?? []) requireValidScope(scope);
  if (body.expiration) requireValidExpiration(ctx.app, body.expiration);
  if (!isScopeSubset(body.scopes, ctx.caller.identity.token?.scopes)) {
    throw new Forbidden("the new token's scopes exceed the caller's");
  }
  requireValidWebhookToken(body);
  return limitExpiration(ctx, body.expiration);
}

/**
 * Limits the expiration of a new token to that of the caller's, if that is restricted: otherwise its holder could renew
 * it for ever. An unrestricted token opens sessions anyway.
 * @throws Forbidden for a later expiration
 */
function limitExpiration({ caller }: UserContext, wanted: Date | undefined): Date | undefined {
  const { token: own } = caller.identity;
  const end = own?.scopes?.length || own?.workspace_id !== undefined ? own.expiration : undefined;
  if (end === undefined || (wanted && wanted <= end)) return wanted;
  if (wanted === undefined) return end;
  throw new Forbidden(
    `a token bound to scopes or a workspace creates none that outlives it: it expires at ${end.toISOString()}`,
  );
}

/** @throws BadRequest for a webhook's token that could run more than one script or flow */
function requireValidWebhookToken(body: Omit<NewToken, "email" | "kind">): void {
  if (!body.label?.startsWith("webhook-")) return;
  const runs = (body.scopes ?? []).filter((scope) =>
    /^(run:(script|flow)\/|jobs:run:(scripts|flows):)[^,*]+$/.test(scope),
  );
  if (runs.length !== 1 || body.scopes?.length !== 1 || body.workspace_id === undefined) {
    throw new BadRequest(
      "a webhook token is bound to one runnable of one workspace: give workspace_id and one scope such as jobs:run:scripts:u/ann/hello",
    );
  }
}

async function storeToken(ctx: UserContext, token: Omit<NewToken, "kind">): Promise<string> {
  return ctx.app.db.write(async (tx) => {
    const [user] = await tx.select({ email: users.email }).from(users).where(eq(users.email, token.email));
    if (!user) throw new NotFound(`user ${token.email}`);
    if (token.workspace_id !== undefined) {
      const [found] = await tx
        .select({ id: workspaces.id })
        .from(workspaces)
        .where(eq(workspaces.id, token.workspace_id));
      if (!found) throw new NotFound(`workspace ${token.workspace_id}`);
    }
    const kind = isMachineLabel(token.label) ? "machine" : "user";
    const value = await issueToken(ctx.app, tx, { ...token, kind });
    const parameters = { email: token.email, label: token.label ?? "" };
    await ctx.audit(tx, { resource: value.slice(0, TOKEN_PREFIX_CHARS), parameters });
    return value;
  });
}

/** The columns of a token that may be shown; see `toListedToken`. */
export const LISTED_TOKEN_COLUMNS = {
  token_prefix: tokens.prefix,
  created_at: tokens.created_at,
  last_used_at: tokens.last_used_at,
  label: tokens.label,
  expiration: tokens.expiration,
  scopes: tokens.scopes,
  workspace_id: tokens.workspace_id,
  kind: tokens.kind,
};

/** Replaces the expiration by the effective one, which the instance's maximum age may shorten. */
export function toListedToken<T extends TokenLifetime>(app: App, row: T): T {
  return { ...row, expiration: computeTokenExpiry(app, row) ?? null };
}

/**
 * Returns the owner of the tokens: the caller, or another user.
 * @throws Forbidden if the caller may not manage tokens of others
 */
function resolveOwner({ caller: { identity } }: UserContext, given: string | undefined): string {
  const email = given === undefined ? identity.email : parseEmail(given);
  const isLimited = identity.token && (identity.token.scopes?.length || identity.token.job);
  if (email === identity.email || (identity.super_admin && !isLimited)) return email;
  throw new Forbidden("only super admins manage the tokens of others, with a token that is not limited");
}

/** Lists the tokens of the caller, or of another user, newest first. @throws Forbidden */
export async function listTokens(
  ctx: UserContext,
  query: { page: number; per_page: number; exclude_ephemeral: boolean; email?: string | undefined },
) {
  const owner = resolveOwner(ctx, query.email);
  const { offset, limit } = toLimitOffset(query);
  const isLasting = or(isNull(tokens.label), not(startsWith(tokens.label, EPHEMERAL_LABEL)));
  const rows = await ctx.app.db.read
    .select(LISTED_TOKEN_COLUMNS)
    .from(tokens)
    .where(and(eq(tokens.email, owner), query.exclude_ephemeral ? isLasting : undefined))
    .orderBy(desc(tokens.created_at), tokens.hash)
    .limit(limit)
    .offset(offset);
  return rows.map((row) => toListedToken(ctx.app, row));
}

/** Deletes all tokens of the caller, or of another user, with this prefix. @returns how many */
export async function deleteTokens(ctx: UserContext, prefix: string, email?: string): Promise<number> {
  const owner = resolveOwner(ctx, email);
  if (prefix.length < TOKEN_PREFIX_CHARS) {
    throw new BadRequest(
      `"${prefix}" is too short: give the first ${TOKEN_PREFIX_CHARS} characters of the token`,
    );
  }
  const { app } = ctx;
  const short = prefix.slice(0, TOKEN_PREFIX_CHARS);
  return ctx.write({ resource: short }, async (tx) => {
    const deleted = await tx
      .delete(tokens)
      .where(and(eq(tokens.prefix, short), eq(tokens.email, owner)))
      .returning({ hash: tokens.hash });
    if (deleted.length === 0) throw new NotFound(`token ${short}… of ${owner}`);
    tx.afterCommit(() =>
      invalidateTokens(
        app,
        deleted.map((row) => row.hash),
      ),
    );
    return deleted.length;
  });
}
