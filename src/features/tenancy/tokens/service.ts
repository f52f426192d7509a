import { and, eq, inArray, sql } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import type { Service } from "../../../lib/async/start-stop.ts";
import { randomText, sha256 } from "../../../lib/text/ids.ts";
import type { App, Identity } from "../../../platform/app/context.ts";
import { createPeriodicTask } from "../../../platform/loops/periodic-task.ts";
import { users } from "../people/user-tables.ts";
import { forgetTokens, type KnownToken, loadToken, tokenCache } from "./cache.ts";
import { jobElsewhere, jobHere, mayBeJobElsewhere } from "./job-tokens.ts";
import { endOf } from "./lifetime.ts";
import { PREFIX_LENGTH, tokens } from "./tables.ts";

const TOKEN_LENGTH = 32;
const USE_FLUSH_MS = 60_000;
const USE_BATCH_SIZE = 500;

/**
 * Whose token this is: from memory when it was seen recently, else by one query.
 * @returns undefined when it is unknown, expired, or of a job that has ended
 */
export function resolveToken(app: App, value: string): Identity | undefined | Promise<Identity | undefined> {
  const job = jobHere(app, value);
  if (job) return job;
  const hash = sha256(value);
  const cache = tokenCache(app);
  const known = cache.entries.get(hash);
  if (known === undefined) {
    return mayBeJobElsewhere(app, value) ? jobElsewhere(app, value) : resolveUnknown(app, hash);
  }
  return known ? used(app, hash, known) : undefined;
}

/** Whose the token is that is used now; undefined when it is over. */
function used(app: App, hash: string, known: KnownToken): Identity | undefined {
  const now = app.clock();
  if (isOver(app, known, now)) return undefined;
  const uses = tokenCache(app).used;
  if (!uses.has(hash)) uses.set(hash, now);
  return known.identity;
}

async function resolveUnknown(app: App, hash: string): Promise<Identity | undefined> {
  const known = await loadToken(app, hash, () => findToken(app, hash));
  return known ? used(app, hash, known) : undefined;
}

function isOver(app: App, { lifetime }: KnownToken, now: Date): boolean {
  const end = endOf(app, lifetime);
  return end !== undefined && end <= now;
}

async function findToken(app: App, hash: string): Promise<KnownToken | null> {
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
        expiration: endOf(app, row.token),
        job: undefined,
      },
    },
  };
}

/**
 * Stores when tokens were last used: now and then and together, never on a request's way. What cannot be stored is kept for
 * the next time.
 */
export async function flushTokenUse(app: App): Promise<void> {
  const { used } = tokenCache(app);
  const rows = [...used];
  used.clear();
  try {
    for (let at = 0; at < rows.length; at += USE_BATCH_SIZE) {
      await storeUse(app, rows.slice(at, at + USE_BATCH_SIZE));
    }
  } catch (cause) {
    for (const [hash, last_used_at] of rows) {
      const newer = used.get(hash);
      if (!newer || newer < last_used_at) used.set(hash, last_used_at);
    }
    throw cause;
  }
}

/** One statement; servers that store uses of the same tokens do so one after the other. */
async function storeUse(app: App, rows: [hash: string, last_used_at: Date][]): Promise<void> {
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

export function createTokenUse(app: App): Service {
  const flush = () => flushTokenUse(app);
  return createPeriodicTask(app, {
    failure: "the use of tokens could not be stored yet",
    first_ms: USE_FLUSH_MS,
    interval_ms: USE_FLUSH_MS,
    run: flush,
    last: flush,
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
