/**
 * Statements on a SQLite connection: those of the query builder, and declared statements, which are prepared once.
 */
import { Database as SqliteFile } from "bun:sqlite";
import { is, Param, Placeholder, type SQL } from "drizzle-orm";
import { drizzle } from "drizzle-orm/bun-sqlite";
import { Cache } from "../../lib/async/cache.ts";
import type { QueryBuilder, Reader, Statement } from "../database.ts";

type Values = Record<string, unknown>;

/**
 * Compiles a declared statement: Drizzle generates the SQL once, and it runs directly on the connection. Drizzle's own
 * parameter mapping costs several times as much as the statement.
 */
function compile(connection: SqliteFile, queries: QueryBuilder, declared: Statement<never, unknown>) {
  const { sql: text, params } = declared.build(queries).toSQL();
  const { resultOfChange } = declared;
  // Whether the number of changes is enough to tell if the row existed; it costs half as much as RETURNING.
  const isCounted = resultOfChange !== undefined && !/^select/i.test(text);
  const statement = connection.prepare(isCounted ? text.replace(/ returning [^()]+$/i, "") : text);
  const returns = !isCounted && /^select|\breturning\b/i.test(text);
  const bare = params.map((parameter) => (is(parameter, Param) ? parameter.value : parameter));
  const names = bare.map((parameter) => (is(parameter, Placeholder) ? parameter.name : undefined));
  const fixed = bare.map((parameter) => (is(parameter, Placeholder) ? undefined : toDriver(parameter)));
  return (values: Values): unknown => {
    const bound = new Array(names.length);
    for (let index = 0; index < names.length; index++) {
      const name = names[index];
      bound[index] = name === undefined ? fixed[index] : toDriver(values[name]);
    }
    if (returns) return statement.all(...(bound as never[]));
    const { changes } = statement.run(...(bound as never[]));
    return changes === 0 ? [] : resultOfChange?.(values as never);
  };
}

/** Converts a value of the column kit to SQLite's driver value. */
function toDriver(value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value !== "object" || value instanceof Uint8Array) return value;
  return value instanceof Date ? value.getTime() : JSON.stringify(value);
}

/** Number of prepared queries that a connection keeps. */
const MAX_QUERIES = 300;
/** Longer queries are not kept: they list values, so that each differs from the others. */
const MAX_QUERY_CHARACTERS = 5_000;

/**
 * Keeps the prepared queries of the query builder, since preparing one takes as long as running it. Other statements are
 * not kept: a statement holds its parameters until it runs again, and those that change rows may be large.
 */
function keepQueries(connection: SqliteFile): SqliteFile {
  const kept = new Cache<ReturnType<SqliteFile["prepare"]>>({ max: MAX_QUERIES });
  const prepare = (text: string) => {
    const known = kept.get(text);
    if (known) return known;
    const statement = connection.prepare(text);
    if (text.startsWith("select ") && text.length <= MAX_QUERY_CHARACTERS) kept.set(text, statement);
    return statement;
  };
  // All that the query builder calls.
  return { prepare, exec: (text: string) => connection.exec(text) } as unknown as SqliteFile;
}

/** Creates the reader of one connection, which runs queries and declared statements. */
export function createReader(connection: SqliteFile): Reader {
  const queries = drizzle({ client: keepQueries(connection) });
  const compiled = new Map<object, (values: Values) => unknown>();
  return Object.assign(queries as unknown as QueryBuilder, {
    exec<P extends Values, R>(declared: Statement<P, R>, parameters: P): R {
      let run = compiled.get(declared);
      if (!run) {
        run = compile(connection, queries as unknown as QueryBuilder, declared as Statement<never, unknown>);
        compiled.set(declared, run);
      }
      return run(parameters) as R;
    },
    async rows<R>(query: SQL): Promise<R[]> {
      return queries.all<R>(query);
    },
  }) as unknown as Reader;
}

/** Sets the pragmas of every connection. Commits do not flush the log; the caller does it afterwards. */
export function configureConnection(connection: SqliteFile, cache_kb: number): void {
  connection.run("PRAGMA busy_timeout = 5000");
  connection.run("PRAGMA journal_mode = WAL");
  connection.run("PRAGMA synchronous = NORMAL");
  connection.run("PRAGMA foreign_keys = ON");
  // What is deleted, or replaced by its encrypted form, does not stay in unused parts of the file.
  connection.run("PRAGMA secure_delete = ON");
  connection.run("PRAGMA temp_store = MEMORY");
  connection.run(`PRAGMA cache_size = -${cache_kb}`);
}

/** Opens a read-only connection. */
export function openForReading(path: string, cache_kb: number): SqliteFile {
  const connection = new SqliteFile(path, { readwrite: true });
  configureConnection(connection, cache_kb);
  connection.run("PRAGMA query_only = ON");
  return connection;
}
