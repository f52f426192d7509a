/** The tokens that people make, see and delete. */
import { and, desc, eq, isNull, not, or } from "drizzle-orm";
import { startsWith } from "../../../database/conditions.ts";
import { BadRequest, Forbidden, NotFound } from "../../../lib/errors.ts";
import { checkEmail } from "../../../lib/text/paths.ts";
import type { App, UserContext } from "../../../platform/app/context.ts";
import { toWindow } from "../../../platform/http/operation.ts";
import { users } from "../people/user-tables.ts";
import { workspaces } from "../workspaces/tables.ts";
import { forgetTokens } from "./cache.ts";
import { isMachineLabel } from "./labels.ts";
import { checkExpiration, endOf, type Lifetime } from "./lifetime.ts";
import { checkScope, isWithin } from "./scopes.ts";
import { issueToken, type NewToken } from "./service.ts";
import { PREFIX_LENGTH, tokens } from "./tables.ts";

/** Tokens of single runs are labelled so. */
const EPHEMERAL = "ephemeral-script";

/**
 * Makes a token for the caller. A token bound to a workspace makes tokens of that workspace.
 * @throws BadRequest for what is no scope, or a time gone by; Forbidden when it would reach further than the caller's
 */
export async function createToken(ctx: UserContext, body: Omit<NewToken, "email" | "kind">): Promise<string> {
  const { email, token: own } = ctx.caller.identity;
  if (own?.job) throw new Forbidden("a job's token ends with its job, so it makes none that stays");
  const token = { ...body, workspace_id: body.workspace_id ?? own?.workspace_id };
  checkNewToken(ctx, token);
  if (own?.workspace_id !== undefined && own.workspace_id !== token.workspace_id) {
    throw new Forbidden(`the new token must be bound to workspace ${own.workspace_id}, as the caller's is`);
  }
  return store(ctx, { ...token, email });
}

/**
 * Makes a token for somebody else: super admins only.
 * @throws as `createToken`, and NotFound for an unknown user
 */
export async function createTokenFor(
  ctx: UserContext,
  body: Omit<NewToken, "email" | "kind"> & { impersonate_email: string },
): Promise<string> {
  checkNewToken(ctx, body);
  const { impersonate_email, ...token } = body;
  const email = checkEmail(impersonate_email);
  return store(ctx, { ...token, email });
}

function checkNewToken(ctx: UserContext, body: Omit<NewToken, "email" | "kind">): void {
  for (const scope of body.scopes ?? []) checkScope(scope);
  if (body.expiration) checkExpiration(ctx.app, body.expiration);
  if (!isWithin(body.scopes, ctx.caller.identity.token?.scopes)) {
    throw new Forbidden("the new token's scopes reach further than the caller's");
  }
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

async function store(ctx: UserContext, token: Omit<NewToken, "kind">): Promise<string> {
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
    await ctx.audit(tx, { resource: value.slice(0, PREFIX_LENGTH), parameters });
    return value;
  });
}

/** The columns of a token that may be shown, for `toListed`. */
export const LISTED = {
  token_prefix: tokens.prefix,
  created_at: tokens.created_at,
  last_used_at: tokens.last_used_at,
  label: tokens.label,
  expiration: tokens.expiration,
  scopes: tokens.scopes,
  workspace_id: tokens.workspace_id,
  kind: tokens.kind,
};

/** With the end it really has: the instance may not let it become as old as it was meant to. */
export function toListed<T extends Lifetime>(app: App, row: T): T {
  return { ...row, expiration: endOf(app, row) ?? null };
}

/** The caller's tokens, newest first. */
export async function listTokens(
  ctx: UserContext,
  query: { page: number; per_page: number; exclude_ephemeral: boolean },
) {
  const { offset, limit } = toWindow(query);
  const isLasting = or(isNull(tokens.label), not(startsWith(tokens.label, EPHEMERAL)));
  const rows = await ctx.app.db.read
    .select(LISTED)
    .from(tokens)
    .where(and(eq(tokens.email, ctx.caller.identity.email), query.exclude_ephemeral ? isLasting : undefined))
    .orderBy(desc(tokens.created_at), tokens.hash)
    .limit(limit)
    .offset(offset);
  return rows.map((row) => toListed(ctx.app, row));
}

/** Deletes every token of the caller that begins with the prefix. @returns how many */
export async function deleteTokens(ctx: UserContext, prefix: string): Promise<number> {
  if (prefix.length < PREFIX_LENGTH) {
    throw new BadRequest(`"${prefix}" is too short: give the first ${PREFIX_LENGTH} characters of the token`);
  }
  const { app } = ctx;
  const short = prefix.slice(0, PREFIX_LENGTH);
  return ctx.write({ resource: short }, async (tx) => {
    const deleted = await tx
      .delete(tokens)
      .where(and(eq(tokens.prefix, short), eq(tokens.email, ctx.caller.identity.email)))
      .returning({ hash: tokens.hash });
    if (deleted.length === 0) throw new NotFound(`token ${short}… of ${ctx.caller.identity.email}`);
    tx.afterCommit(() =>
      forgetTokens(
        app,
        deleted.map((row) => row.hash),
      ),
    );
    return deleted.length;
  });
}
