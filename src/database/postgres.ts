/**
 * PostgreSQL through Bun's own client. The builder is cast to the SQLite builder's type here and nowhere else: the
 * kit's tables have the same shape in both, and the contract suite runs on both.
 */
import { SQL as PostgresClient } from "bun";
import { DrizzleQueryError, type SQL, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/bun-sql";
import { BadRequest, Internal, StorageFull, SvcError } from "../errors.ts";
import {
  countCommit,
  type Database,
  newCommitStats,
  type Queries,
  type Reader,
  runEffects,
  type Statement,
  type Tx,
  type WriteOptions,
} from "./database.ts";

export interface PostgresOptions {
  url: string;
  max_connections: number;
  /**
   * How long, in milliseconds, a transaction may stand still before the database ends it: a machine that was stopped or
   * cut off in the middle of one holds locks that nobody else gets past. Absent: for as long as it likes.
   */
  max_pause_ms?: number;
}

/** What the database's own list of connections calls those of a server. */
export const APPLICATION = "svc";

/** Of transactions that wait for each other PostgreSQL ends one, which is then done once more. */
const MAX_TRIES = 5;

type Builder = Pick<ReturnType<typeof drizzle>, "execute">;

export function openPostgres(options: PostgresOptions): Database {
  const client = new PostgresClient({
    url: options.url,
    max: options.max_connections,
    bigint: false,
    connection: {
      application_name: APPLICATION,
      idle_in_transaction_session_timeout: options.max_pause_ms ?? 0,
    },
  });
  const db = drizzle({ client });
  const counters = newCommitStats();

  async function once<T>(work: (tx: Tx) => Promise<T>, { lazy }: WriteOptions): Promise<T> {
    const effects: (() => void)[] = [];
    const began = performance.now();
    const value = await db
      .transaction((inner) => {
        const reader = readerOf(inner);
        const tx: Tx = Object.assign(reader, {
          afterCommit: (effect: () => void) => {
            effects.push(effect);
          },
          lock: async (name: string) => {
            await reader.rows(sql`SELECT pg_advisory_xact_lock(hashtextextended(${name}, 0))`);
          },
        });
        return lazy ? reader.rows(sql`SET LOCAL synchronous_commit = off`).then(() => work(tx)) : work(tx);
      })
      .catch((cause) => {
        throw toStorageError(cause);
      });
    countCommit(counters, 1, began);
    runEffects(effects);
    return value;
  }

  return {
    dialect: "postgres",
    channel: {
      notify: (name, text) => client.notify(name, text),
      async listen(name, hear, gap) {
        let first = true;
        const subscription = await client.listen(name, hear, () => {
          if (!first) gap();
          first = false;
        });
        return { stop: () => subscription.unlisten() };
      },
    },
    read: readerOf(db),
    async write<T>(work: (tx: Tx) => Promise<T>, options: WriteOptions = {}): Promise<T> {
      for (let tries = 1; ; tries++) {
        try {
          return await once(work, options);
        } catch (cause) {
          if (tries >= MAX_TRIES || !isDeadlock(cause)) throw cause;
        }
      }
    },
    settled: () => undefined,
    shrink: async () => false,
    stats: () => ({ ...counters }),
    async close() {
      await client.close({ timeout: 5 });
    },
  };
}

function readerOf(queries: Builder): Reader {
  return Object.assign(queries as unknown as Queries, {
    async exec<P extends Record<string, unknown>, R>(declared: Statement<P, R>, parameters: P): Promise<R> {
      return (await declared
        .build(queries as unknown as Queries)
        .prepare()
        .execute(parameters)) as R;
    },
    async rows<R>(query: SQL): Promise<R[]> {
      return [...((await queries.execute(query)) as Iterable<R>)];
    },
  }) as unknown as Reader;
}

/** SQLSTATE 40P01: deadlock_detected. */
function isDeadlock(thrown: unknown): boolean {
  const { errno, cause } = thrown as { errno?: string; cause?: { errno?: string } };
  return (errno ?? cause?.errno) === "40P01";
}

function toStorageError(thrown: unknown): unknown {
  if (thrown instanceof SvcError) return thrown;
  const cause = thrown instanceof DrizzleQueryError ? thrown.cause : thrown;
  const code = (cause as { errno?: string; code?: string } | undefined)?.errno ?? "";
  // SQLSTATE class 53: insufficient resources (53100 is disk_full).
  if (code === "53100") {
    return new StorageFull("nothing was stored: the database server's disk is full", { cause });
  }
  // character_not_in_repertoire, untranslatable_character: a text with the character NUL, which PostgreSQL cannot keep.
  if (code === "22021" || code === "22P05") return new BadRequest("a text must not hold the character NUL");
  if (thrown instanceof DrizzleQueryError) return new Internal("the database refused a statement", { cause });
  return thrown;
}
