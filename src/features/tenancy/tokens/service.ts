/**
 * Resolves, issues and revokes tokens. `resolveToken` looks in the cache, then in the database; `lifetime.ts` computes
 * the expiry, and platform/http/execute.ts checks the scopes (`scopes.ts`) of each call.
 */
import { and, eq, inArray, sql } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import { Cache } from "../../../lib/async/cache.ts";
import type { Service } from "../../../lib/async/service.ts";
import { createRandomText, sha256 } from "../../../lib/text/ids.ts";
import type { App, Identity } from "../../../platform/app/context.ts";
import { createPeriodicTask } from "../../../platform/loops/periodic-task.ts";
import { users } from "../people/user-tables.ts";
import { type CachedToken, getTokenCache, invalidateTokens, loadCachedToken } from "./cache.ts";
import { findLocalJob, findRemoteJob, mayBeRemoteJob } from "./job-tokens.ts";
import { computeTokenExpiry } from "./lifetime.ts";
import { TOKEN_PREFIX_CHARS, tokens } from "./tables.ts";

const TOKEN_CHARS = 32;
const FLUSH_INTERVAL_MS = 60_000;
const BATCH_SIZE = 500;

/**
 * Returns the identity behind a token, from the cache or by one query.
 * @returns undefined if it is unknown or expired, or belongs to a job that has ended
 */
export function resolveToken(app: App, value: string): Identity | undefined | Promise<Identity | undefined> {
  const job = findLocalJob(app, value);
  if (job) return job;
  const cached_hash = hashes.get(value);
  const hash = cached_hash ?? sha256(value);
  const cache = getTokenCache(app);
  const known = cache.entries.get(hash);
  if (known === undefined) {
    return mayBeRemoteJob(app, value) ? findRemoteJob(app, value) : resolveUncached(app, hash);
  }
  if (!known) return undefined;
  if (cached_hash === undefined) hashes.set(value, hash);
  return recordUse(app, hash, known);
}

/** Hashes of the tokens in use: hashing costs more than all other steps of a cached token. */
const hashes = new Cache<string>({ max: 1_000 });

/** Records the use of a token and returns its identity; undefined if it has expired. */
function recordUse(app: App, hash: string, known: CachedToken): Identity | undefined {
  const now = app.clock();
  if (isExpired(app, known, now)) return undefined;
  const uses = getTokenCache(app).lastUses;
  if (!uses.has(hash)) uses.set(hash, now);
  return known.identity;
}

async function resolveUncached(app: App, hash: string): Promise<Identity | undefined> {
  const known = await loadCachedToken(app, hash, () => findToken(app, hash));
  return known ? recordUse(app, hash, known) : undefined;
}

function isExpired(app: App, { lifetime }: CachedToken, now: Date): boolean {
  const end = computeTokenExpiry(app, lifetime);
  return end !== undefined && end <= now;
}

async function findToken(app: App, hash: string): Promise<CachedToken | null> {
  const [row] = await app.db.read
    .select({ token: tokens, super_admin: users.super_admin, devops: users.devops })
    .from(tokens)
    .innerJoin(users, eq(users.email, tokens.email))
    .where(eq(tokens.hash, hash));
  if (!row) return null;
  return {
    lifetime: row.token,
    identity: {
      email: row.token.email,
      super_admin: row.super_admin,
      devops: row.devops,
      token: {
        hash,
        prefix: row.token.prefix,
        label: row.token.label ?? undefined,
        scopes: row.token.scopes ?? undefined,
        workspace_id: row.token.workspace_id ?? undefined,
        expiration: computeTokenExpiry(app, row.token),
        job: undefined,
      },
    },
  };
}

/**
 * Stores the last-use times collected in memory. Runs periodically and in batches, never during a request. Times that
 * cannot be stored are kept for the next flush.
 */
export async function flushTokenUses(app: App): Promise<void> {
  const { lastUses } = getTokenCache(app);
  const rows = [...lastUses];
  lastUses.clear();
  try {
    for (let at = 0; at < rows.length; at += BATCH_SIZE) {
      await storeTokenUses(app, rows.slice(at, at + BATCH_SIZE));
    }
  } catch (cause) {
    for (const [hash, last_used_at] of rows) {
      const newer = lastUses.get(hash);
      if (!newer || newer < last_used_at) lastUses.set(hash, last_used_at);
    }
    throw cause;
  }
}

/** Stores the uses in one statement, under a lock that serializes the servers. */
async function storeTokenUses(app: App, rows: [hash: string, last_used_at: Date][]): Promise<void> {
  const hashes = rows.map(([hash]) => hash);
  const times = rows.map(
    ([hash, at]) => sql`WHEN ${hash} THEN CAST(${sql.param(at, tokens.last_used_at)} AS timestamptz)`,
  );
  await app.db.write(async (tx) => {
    await tx.lock("token use");
    await tx
      .update(tokens)
      .set({ last_used_at: sql`CASE ${tokens.hash} ${sql.join(times, sql` `)} END` })
      .where(inArray(tokens.hash, hashes));
  });
}

export function createTokenUseFlusher(app: App): Service {
  const flush = () => flushTokenUses(app);
  return createPeriodicTask(app, {
    failure_message: "the use of tokens could not be stored yet",
    first_delay_ms: FLUSH_INTERVAL_MS,
    interval_ms: FLUSH_INTERVAL_MS,
    run: flush,
    after_stop: flush,
  });
}

export interface NewToken {
  email: string;
  label?: string | undefined;
  expiration?: Date | undefined;
  scopes?: string[] | undefined;
  workspace_id?: string | undefined;
  kind: "session" | "user" | "machine";
}

/** Creates a token. @returns its value, which is not stored */
export async function issueToken(app: App, tx: Tx, token: NewToken): Promise<string> {
  const value = createRandomText(TOKEN_CHARS);
  const now = app.clock();
  await tx.insert(tokens).values({
    hash: sha256(value),
    prefix: value.slice(0, TOKEN_PREFIX_CHARS),
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

export async function revokeToken(app: App, tx: Tx, hash: string): Promise<void> {
  await tx.delete(tokens).where(eq(tokens.hash, hash));
  tx.afterCommit(() => invalidateTokens(app, [hash]));
}

/** Deletes all sessions of a user except the one with hash `except`. */
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
    invalidateTokens(
      app,
      ended.map((row) => row.hash),
    ),
  );
}
