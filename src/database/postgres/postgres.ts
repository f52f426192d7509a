/**
 * PostgreSQL through Bun's own client. A write begins its transaction with the first statement that cannot be shared;
 * one that has none goes with others (`groups.ts`).
 */
import { withinMs } from "../../lib/async/sleep.ts";
import { Internal } from "../../lib/errors.ts";
import {
  countCommit,
  countFailure,
  type Database,
  newCommitStats,
  runEffects,
  type Tx,
  type WriteOptions,
} from "../database.ts";
import { isOutage } from "../failure.ts";
import { builderOn, withBuilder } from "./builder.ts";
import { openConnections } from "./connections.ts";
import { Contradicted, isDeadlock, toStorageError } from "./errors.ts";
import { type Call, createGroups, SHARE } from "./groups.ts";
import {
  type AnyStatement,
  type Compiled,
  type Connection,
  compile,
  type Joined,
  joinRows,
  type Values,
} from "./statements.ts";

export interface PostgresOptions {
  url: string;
  max_connections: number;
  /**
   * How long, in milliseconds, a transaction may stand still before the database ends it: a machine that was stopped or
   * cut off in the middle of one holds locks that nobody else gets past. Absent: for as long as it likes.
   */
  max_pause_ms?: number;
  /**
   * For tests: each write is done twice, the first time for nothing. Whatever does something beside its transaction, or
   * counts on being run once, shows.
   */
  rehearse?: boolean;
}

/** What the database's own list of connections calls those of a server. */
export const APPLICATION = "svc";
/** Of transactions that wait for each other PostgreSQL ends one, which is then done once more. */
const MAX_TRIES = 5;
/** How long what is under way may take at the end. */
const CLOSE_MS = 5_000;
/** Most characters of a statement that goes together with others'. */
const MAX_SHARED = 65_536;

export function openPostgres(options: PostgresOptions): Database {
  const connections = openConnections({
    url: options.url,
    max: options.max_connections,
    bigint: false,
    connection: {
      application_name: APPLICATION,
      idle_in_transaction_session_timeout: options.max_pause_ms ?? 0,
    },
  });
  const counters = newCommitStats();
  const { reach } = connections;
  const queries = builderOn((run) => reach(run));
  const compiled = new Map<object, Compiled>();
  const joined = new Map<object, Promise<Joined>>();
  const writing = new Set<Promise<unknown>>();
  const uncertain: (() => void)[] = [];
  let closed = false;

  function compiledOf(declared: AnyStatement): Compiled {
    const known = compiled.get(declared) ?? compile(queries, declared);
    compiled.set(declared, known);
    return known;
  }

  function joinedOf(declared: AnyStatement): Promise<Joined> {
    let known = joined.get(declared);
    if (!known) {
      known = reach((client) => joinRows(client, compiledOf(declared)));
      joined.set(declared, known);
      known.catch(() => joined.delete(declared));
    }
    return known;
  }

  const groups = createGroups(reach, joinedOf, counters);

  async function run(on: Connection | undefined, declared: AnyStatement, parameters: Values) {
    const { text, bind, numbers } = compiledOf(declared);
    const rows = (await reach(async (client) =>
      (on ?? client).unsafe(text, bind(parameters)),
    )) as Values[] & {
      count: number;
    };
    for (const row of rows) {
      for (const name of numbers) row[name] = row[name] === null ? null : Number(row[name]);
    }
    return rows;
  }

  /**
   * A transaction that begins when it has to: one whose statements are all shared never does, and goes with a group.
   * @throws Contradicted
   */
  async function attempt<T>(
    work: (tx: Tx) => Promise<T>,
    { mayShare, lazy, rehearsal = false }: { mayShare: boolean; lazy: boolean; rehearsal?: boolean },
  ): Promise<T> {
    const began = performance.now();
    const calls: Call[] = [];
    const shares: string[] = [];
    const effects: (() => void)[] = [];
    const ended = Promise.withResolvers<void>();
    let opened: Promise<Connection> | undefined;
    let committed: Promise<void> | undefined;

    function open(): Promise<Connection> {
      opened ??= new Promise((resolve, reject) => {
        committed = reach((client) =>
          client.begin(async (connection) => {
            if (lazy) await connection.unsafe("SET LOCAL synchronous_commit = off");
            if (shares.length > 0) await connection.unsafe(SHARE, [JSON.stringify(shares)]);
            for (const { declared, parameters } of calls) {
              const { count } = await run(connection, declared, parameters);
              if (count !== declared.changes(parameters as never)) throw new Contradicted();
            }
            resolve(connection);
            await ended.promise;
          }),
        );
        committed.catch(reject);
      });
      return opened;
    }

    const tx = withBuilder(
      () =>
        builderOn(async (query) => {
          const connection = await open();
          return reach(() => query(connection));
        }),
      {
        async exec(declared, parameters) {
          const { answer } = declared;
          if (!opened && mayShare && answer && isSmall(parameters)) {
            calls.push({ declared, parameters });
            return answer(parameters as never);
          }
          return run(await open(), declared, parameters);
        },
        afterCommit: (effect: () => void) => {
          effects.push(effect);
        },
        async lock(name: string) {
          const connection = await open();
          await connection.unsafe("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [name]);
        },
        async share(name: string) {
          if (opened || !mayShare) await (await open()).unsafe(SHARE, [JSON.stringify([name])]);
          else shares.push(name);
        },
      },
    );
    try {
      const value = await work(tx);
      if (rehearsal) throw new Contradicted();
      ended.resolve();
      if (committed) {
        await committed;
        countCommit(counters, 1, began);
      } else if (calls.length > 0 && !(await groups.store({ calls, shares }))) throw new Contradicted();
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
        if (!(cause instanceof Contradicted)) throw cause;
      });
    }
    for (let tries = 1; ; tries++) {
      try {
        return await attempt(work, { mayShare, lazy });
      } catch (cause) {
        if (cause instanceof Contradicted) {
          mayShare = false;
          continue;
        }
        if (isOutage(cause)) for (const hear of uncertain) hear();
        if (tries >= MAX_TRIES || !isDeadlock(cause)) throw cause;
      }
    }
  }

  return {
    dialect: "postgres",
    channel: {
      notify: (name, text) => reach((client) => client.notify(name, text)),
      listen: connections.listen,
      async written() {
        await Promise.allSettled(writing);
      },
      onUncertain: (hear) => void uncertain.push(hear),
    },
    read: withBuilder(() => queries, {
      exec: (declared, parameters) => run(undefined, declared, parameters),
    }),
    write<T>(work: (tx: Tx) => Promise<T>, how: WriteOptions = {}): Promise<T> {
      if (closed) return Promise.reject(new Internal("the database is closed"));
      const written = write(work, how);
      writing.add(written);
      const isDone = () => void writing.delete(written);
      written.then(isDone, isDone);
      return written;
    },
    settled: () => undefined,
    shrink: async () => false,
    onBroken() {},
    stats: () => ({ ...counters }),
    async close() {
      closed = true;
      await withinMs(CLOSE_MS, Promise.allSettled(writing), () => new Error("not all was stored")).catch(
        () => {},
      );
      await connections.close();
    },
  };
}

/** A large one would make a group's JSON text as large as many of them. */
function isSmall(parameters: Values): boolean {
  let length = 0;
  for (const name in parameters) {
    const value = parameters[name];
    if (typeof value === "string") length += value.length;
  }
  return length <= MAX_SHARED;
}
