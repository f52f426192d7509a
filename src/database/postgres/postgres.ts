/**
 * PostgreSQL through Bun's own client. A write opens its transaction with the first statement that cannot be batched.
 * A write without one joins a group commit (`group-commit.ts`).
 */
import { withTimeout } from "../../lib/async/sleep.ts";
import { Internal } from "../../lib/errors.ts";
import {
  countCommit,
  countFailure,
  createCommitStats,
  type Database,
  type LogInsert,
  runEffects,
  type Tx,
  type WriteOptions,
} from "../database.ts";
import { isOutage } from "../failure.ts";
import { readAside } from "./aside.ts";
import { addBuilder, createBuilder } from "./builder.ts";
import { openConnections } from "./connections.ts";
import { BatchMismatch, isDeadlock, toStorageError } from "./errors.ts";
import { type BatchedCall, countRows, createGroupCommit, SHARED_LOCK_SQL } from "./group-commit.ts";
import {
  type AnyStatement,
  type CompiledStatement,
  compileForRows,
  compileStatement,
  type QueryRunner,
  type RowBatchStatement,
  type Values,
} from "./statements.ts";

export interface PostgresOptions {
  url: string;
  max_connections: number;
  /**
   * Milliseconds after which the database ends an idle transaction: a stopped or disconnected machine would otherwise
   * hold its locks. Absent: never.
   */
  max_pause_ms?: number;
  /**
   * For tests: runs each write twice and discards the first run, which reveals side effects outside the transaction.
   */
  rehearse?: boolean;
}

/** Application name of a server's connections in pg_stat_activity. */
export const APPLICATION_NAME = "svc";
/** Attempts of a write that PostgreSQL aborts because of deadlocks. */
const MAX_DEADLOCK_ATTEMPTS = 5;
/** Time that writes in progress get on close. */
const CLOSE_TIMEOUT_MS = 5_000;
/** Maximum characters of a batched statement's parameters. */
const MAX_BATCHED_CHARACTERS = 65_536;

export function openPostgres(options: PostgresOptions): Database {
  const connections = openConnections({
    url: options.url,
    max: options.max_connections,
    bigint: false,
    connection: {
      application_name: APPLICATION_NAME,
      idle_in_transaction_session_timeout: options.max_pause_ms ?? 0,
    },
  });
  const counters = createCommitStats();
  const { withClient, watch } = connections;
  const queries = createBuilder((run) => connections.query(run));
  const compiled = new Map<object, CompiledStatement>();
  const joined = new Map<object, Promise<RowBatchStatement>>();
  const writing = new Set<Promise<unknown>>();
  const uncertain: (() => void)[] = [];
  let closed = false;

  function compiledOf(declared: AnyStatement): CompiledStatement {
    const known = compiled.get(declared) ?? compileStatement(queries, declared);
    compiled.set(declared, known);
    return known;
  }

  function joinedOf(declared: AnyStatement): Promise<RowBatchStatement> {
    let known = joined.get(declared);
    if (!known) {
      known = withClient((client) => compileForRows(client, compiledOf(declared)));
      joined.set(declared, known);
      known.catch(() => joined.delete(declared));
    }
    return known;
  }

  const groups = createGroupCommit(withClient, joinedOf, counters);
  /** For submissions of many jobs: other writes, such as completions, are committed beside them instead of after them. */
  const largeGroups = createGroupCommit(withClient, joinedOf, counters);
  const groupsFor = (calls: readonly BatchedCall[]) =>
    countRows(calls) > calls.length ? largeGroups : groups;

  async function run(on: QueryRunner | undefined, declared: AnyStatement, parameters: Values) {
    const { text, bind, numbers } = compiledOf(declared);
    const send = async (runner: QueryRunner) => runner.unsafe(text, bind(parameters));
    const rows = (await (on ? watch(() => send(on)) : connections.query(send))) as Values[] & {
      count: number;
    };
    for (const row of rows) {
      for (const name of numbers) row[name] = row[name] === null ? null : Number(row[name]);
    }
    return rows;
  }

  /**
   * Runs one attempt of a write. Its transaction opens lazily: if all statements can be batched, it never opens, and
   * they join a group commit.
   * @throws BatchMismatch
   */
  async function attempt<T>(
    work: (tx: Tx) => Promise<T>,
    { mayShare, lazy, rehearsal = false }: { mayShare: boolean; lazy: boolean; rehearsal?: boolean },
  ): Promise<T> {
    const began = performance.now();
    const calls: BatchedCall[] = [];
    const shares: string[] = [];
    const effects: (() => void)[] = [];
    const ended = Promise.withResolvers<void>();
    let opened: Promise<QueryRunner> | undefined;
    let committed: Promise<void> | undefined;

    function open(): Promise<QueryRunner> {
      opened ??= new Promise((resolve, reject) => {
        committed = withClient((client) =>
          client.begin(async (connection) => {
            if (lazy) await connection.unsafe("SET LOCAL synchronous_commit = off");
            if (shares.length > 0) await connection.unsafe(SHARED_LOCK_SQL, [JSON.stringify(shares)]);
            for (const { declared, parameters } of calls) {
              const { count } = await run(connection, declared, parameters);
              if (count !== declared.affectedRows(parameters as never)) throw new BatchMismatch();
            }
            resolve(connection);
            await ended.promise;
          }),
        );
        committed.catch(reject);
      });
      return opened;
    }

    const tx: Tx = addBuilder(
      () =>
        createBuilder(async (query) => {
          const connection = await open();
          return watch(() => query(connection));
        }),
      {
        async exec(declared, parameters) {
          const { isBatched, resultOfChange } = declared;
          if (!opened && mayShare && isBatched && fitsBatch(parameters)) {
            calls.push({ declared, parameters });
            return resultOfChange!(parameters as never);
          }
          return run(await open(), declared, parameters);
        },
        addToLog: <R>(log: LogInsert<R>, row: R) => log.insert(tx, [row]),
        afterCommit: (effect: () => void) => {
          effects.push(effect);
        },
        // COMMIT includes the flush.
        beforeFlush: (effect: () => void) => {
          effects.push(effect);
        },
        async lock(name: string) {
          const connection = await open();
          await connection.unsafe("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [name]);
        },
        async lockShared(name: string) {
          if (opened || !mayShare) await (await open()).unsafe(SHARED_LOCK_SQL, [JSON.stringify([name])]);
          else shares.push(name);
        },
      },
    );
    try {
      const value = await work(tx);
      if (rehearsal) throw new BatchMismatch();
      ended.resolve();
      if (committed) {
        await committed;
        countCommit(counters, 1, began);
      } else if (calls.length > 0 && !(await groupsFor(calls).store({ calls, shares })))
        throw new BatchMismatch();
      runEffects(effects);
      return value;
    } catch (cause) {
      ended.promise.catch(() => {});
      ended.reject(cause);
      await committed?.catch(() => {});
      const error = toStorageError(cause);
      countFailure(counters, error);
      throw error;
    }
  }

  async function write<T>(work: (tx: Tx) => Promise<T>, { lazy = false }: WriteOptions): Promise<T> {
    let mayShare = !lazy;
    if (options.rehearse) {
      await attempt(work, { mayShare, lazy, rehearsal: true }).catch((cause) => {
        if (!(cause instanceof BatchMismatch)) throw cause;
      });
    }
    for (let tries = 1; ; tries++) {
      try {
        return await attempt(work, { mayShare, lazy });
      } catch (cause) {
        if (cause instanceof BatchMismatch) {
          mayShare = false;
          continue;
        }
        if (isOutage(cause)) for (const listener of uncertain) listener();
        if (tries >= MAX_DEADLOCK_ATTEMPTS || !isDeadlock(cause)) throw cause;
      }
    }
  }

  return {
    dialect: "postgres",
    channel: {
      notify: (name, text) => connections.query((client) => client.notify(name, text)),
      listen: connections.listen,
      async awaitWrites() {
        await Promise.allSettled(writing);
      },
      onUncertain: (listener) => void uncertain.push(listener),
    },
    read: addBuilder(() => queries, {
      exec: (declared, parameters) => run(undefined, declared, parameters),
    }),
    readAside: (query, limit) => readAside(withClient, query, limit),
    write<T>(work: (tx: Tx) => Promise<T>, how: WriteOptions = {}): Promise<T> {
      if (closed) return Promise.reject(new Internal("the database is closed"));
      const written = write(work, how);
      writing.add(written);
      const isDone = () => void writing.delete(written);
      written.then(isDone, isDone);
      return written;
    },
    readBarrier: () => undefined,
    shrink: async () => false,
    freeMemory() {},
    onBroken() {},
    stats: () => ({ ...counters }),
    async close() {
      closed = true;
      await withTimeout(
        CLOSE_TIMEOUT_MS,
        Promise.allSettled(writing),
        () => new Error("not all was stored"),
      ).catch(() => {});
      await connections.close();
    },
  };
}

/**
 * Whether the parameters are small enough for a batch: a large one would multiply the size of the group's JSON text.
 */
function fitsBatch(parameters: Values): boolean {
  let length = 0;
  for (const name in parameters) {
    const value = parameters[name];
    if (typeof value === "string") length += value.length;
  }
  return length <= MAX_BATCHED_CHARACTERS;
}
