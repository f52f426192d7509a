import { and, desc, eq, isNull, ne, or, sql } from "drizzle-orm";
import type { App, Identity, UserContext } from "../../context.ts";
import type { Tx } from "../../database/database.ts";
import { BadRequest, Forbidden, NotFound } from "../../errors.ts";
import { toWindow } from "../../http/operation.ts";
import { randomText, sha256 } from "../../lib/ids.ts";
import { checkEmail } from "../../lib/paths.ts";
import type { RunnerOptions } from "../../runner/types.ts";
import { users } from "../users/tables.ts";
import { workspaces } from "../workspaces/tables.ts";
import { forgetTokens, rememberToken, tokenCache } from "./cache.ts";
import { isWithin, parseScope } from "./scopes.ts";
import { tokens } from "./tables.ts";

const TOKEN_LENGTH = 32;
const PREFIX_LENGTH = 10;
const USE_FLUSH_MS = 60_000;

/**
 * Whose token this is: from memory when it was seen recently, else by one query.
 * @returns undefined when it is unknown, expired, or of a child that runs no job
 */
export function resolveToken(app: App, value: string): Identity | undefined | Promise<Identity | undefined> {
  const hash = sha256(value);
  const cache = tokenCache(app);
  const job = cache.jobs.get(hash);
  if (job) return job;
  const entry = cache.entries.get(hash);
  const now = app.clock();
  if (!entry || entry.until <= now.getTime()) return loadToken(app, hash);
  if (!entry.identity || isExpired(entry.identity, now)) return undefined;
  if (!cache.used.has(hash)) cache.used.set(hash, now);
  return entry.identity;
}

function isExpired(identity: Identity, now: Date): boolean {
  const expiration = identity.token?.expiration;
  return expiration !== undefined && expiration <= now;
}

async function loadToken(app: App, hash: string): Promise<Identity | undefined> {
  const cache = tokenCache(app);
  const { generation } = cache;
  const [row] = await app.db.read
    .select({ token: tokens, super_admin: users.super_admin, devops: users.devops })
    .from(tokens)
    .innerJoin(users, eq(users.email, tokens.email))
    .where(eq(tokens.hash, hash));
  const identity: Identity | undefined = row && {
    email: row.token.email,
    super_admin: row.super_admin,
    devops: row.devops,
    token: {
      hash,
      prefix: row.token.prefix,
      label: row.token.label ?? undefined,
      scopes: row.token.scopes ?? undefined,
      workspace_id: row.token.workspace_id ?? undefined,
      expiration: row.token.expiration ?? undefined,
      job: undefined,
    },
  };
  if (cache.generation === generation) rememberToken(app, hash, identity);
  if (!identity || isExpired(identity, app.clock())) return undefined;
  cache.used.set(hash, app.clock());
  return identity;
}

/** Stores when tokens were last used, now and then and together: never on a request's way. */
export function startTokenUse(app: App): { stop(): Promise<void> } {
  const flush = async () => {
    const used = [...tokenCache(app).used];
    tokenCache(app).used.clear();
    if (used.length === 0) return;
    await app.db.write(async (tx) => {
      for (const [hash, last_used_at] of used) {
        await tx.update(tokens).set({ last_used_at }).where(eq(tokens.hash, hash));
      }
    });
  };
  const quietly = () =>
    flush().catch((cause) => app.log.warn({ error: String(cause) }, "the use of tokens could not be stored"));
  const timer = setInterval(quietly, USE_FLUSH_MS);
  return {
    async stop() {
      clearInterval(timer);
      await quietly();
    },
  };
}

export interface NewToken {
  email: string;
  label?: string | undefined;
  expiration?: Date | undefined;
  scopes?: string[] | undefined;
  workspace_id?: string | undefined;
  kind: "session" | "user" | "machine";
}

/** @returns the token's value: it is not kept */
export async function issueToken(app: App, tx: Tx, token: NewToken): Promise<string> {
  const value = randomText(TOKEN_LENGTH);
  const now = app.clock();
  await tx.insert(tokens).values({
    hash: sha256(value),
    prefix: value.slice(0, PREFIX_LENGTH),
    email: token.email,
    label: token.label ?? null,
    expiration: token.expiration ?? null,
    scopes: token.scopes?.length ? token.scopes : null,
    workspace_id: token.workspace_id ?? null,
    kind: token.kind,
    created_at: now,
    last_used_at: now,
  });
  return value;
}

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
  return store(ctx, { ...token, email, kind: "user" });
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
  return store(ctx, { ...token, email, kind: "user" });
}

function checkNewToken(ctx: UserContext, body: Omit<NewToken, "email" | "kind">): void {
  for (const scope of body.scopes ?? []) parseScope(scope);
  if (body.expiration && body.expiration <= ctx.app.clock()) {
    throw new BadRequest("body field `expiration`: must be a time to come");
  }
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

async function store(ctx: UserContext, token: NewToken): Promise<string> {
  const audited: { resource?: string; parameters: Record<string, string> } = {
    parameters: { email: token.email, label: token.label ?? "" },
  };
  return ctx.write(audited, async (tx) => {
    const [user] = await tx.select({ email: users.email }).from(users).where(eq(users.email, token.email));
    if (!user) throw new NotFound(`user ${token.email}`);
    if (token.workspace_id !== undefined) {
      const [found] = await tx
        .select({ id: workspaces.id })
        .from(workspaces)
        .where(eq(workspaces.id, token.workspace_id));
      if (!found) throw new NotFound(`workspace ${token.workspace_id}`);
    }
    const value = await issueToken(ctx.app, tx, token);
    audited.resource = value.slice(0, PREFIX_LENGTH);
    return value;
  });
}

export function listTokens(
  ctx: UserContext,
  query: { page: number; per_page: number; exclude_ephemeral: boolean },
) {
  const { offset, limit } = toWindow(query);
  return ctx.app.db.read
    .select({
      token_prefix: tokens.prefix,
      created_at: tokens.created_at,
      last_used_at: tokens.last_used_at,
      label: tokens.label,
      expiration: tokens.expiration,
      scopes: tokens.scopes,
      workspace_id: tokens.workspace_id,
    })
    .from(tokens)
    .where(
      and(
        eq(tokens.email, ctx.caller.identity.email),
        query.exclude_ephemeral ? or(isNull(tokens.label), ne(tokens.label, "ephemeral-script")) : undefined,
      ),
    )
    .orderBy(desc(tokens.created_at), tokens.hash)
    .limit(limit)
    .offset(offset);
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

export async function revokeToken(app: App, tx: Tx, hash: string): Promise<void> {
  await tx.delete(tokens).where(eq(tokens.hash, hash));
  tx.afterCommit(() => forgetTokens(app, [hash]));
}

/** Ends every session of a person but the one that asked. */
export async function revokeSessions(
  app: App,
  tx: Tx,
  email: string,
  except: string | undefined,
): Promise<void> {
  const ended = await tx
    .delete(tokens)
    .where(and(eq(tokens.email, email), eq(tokens.kind, "session"), sql`${tokens.hash} <> ${except ?? ""}`))
    .returning({ hash: tokens.hash });
  tx.afterCommit(() =>
    forgetTokens(
      app,
      ended.map((row) => row.hash),
    ),
  );
}

/**
 * The tokens of running children: in memory only, never stored, and answering only while their child runs a job.
 * @returns the runner's hook
 */
export function createJobTokens(app: App): RunnerOptions["mintToken"] {
  return ({ workspace_id, permissioned_as, email }) => {
    const value = randomText(TOKEN_LENGTH);
    const hash = sha256(value);
    const { jobs } = tokenCache(app);
    return {
      value,
      activate(job_id) {
        jobs.set(hash, {
          email,
          super_admin: false,
          devops: false,
          token: {
            hash,
            prefix: value.slice(0, PREFIX_LENGTH),
            label: "ephemeral-script",
            scopes: undefined,
            workspace_id,
            expiration: undefined,
            job: { id: job_id, permissioned_as },
          },
        });
      },
      deactivate: () => jobs.delete(hash),
      revoke: () => jobs.delete(hash),
    };
  };
}
