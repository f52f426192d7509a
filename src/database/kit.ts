/**
 * The column kit: tables are described once, in words both databases have, and spelled here for SQLite and for
 * PostgreSQL. The PostgreSQL spelling is cast to the SQLite one's type, so queries are written and typed once.
 *
 * A process speaks to one database for its whole life; DATABASE_URL settles which, before any table is described.
 *
 * JSON is kept as text in both: what went in comes out letter by letter (key order, large numbers, an escaped NUL
 * that `jsonb` would refuse), and the hot path never parses it.
 */
import { sql } from "drizzle-orm";
import * as pg from "drizzle-orm/pg-core";
import * as lite from "drizzle-orm/sqlite-core";
import { parseFields } from "../lib/json/json.ts";

export type Dialect = "sqlite" | "postgres";

export const dialect: Dialect = process.env.DATABASE_URL ? "postgres" : "sqlite";

/**
 * Types with a form of their own in code. A placeholder of a prepared statement hands null to the encoder as well,
 * which drizzle's own columns do not expect.
 */
interface Coding<T> {
  toDriver: (value: T) => never;
  fromDriver: (value: unknown) => T;
}

function coding<T, D>(encode: (value: T) => D, decode: (value: D) => T): Coding<T> {
  return {
    toDriver: (value) => (value === null ? null : encode(value)) as never,
    fromDriver: decode as (value: unknown) => T,
  };
}

const jsonCoding = <T>() => coding<T, string>(JSON.stringify, (text) => parseFields(text) as T);

const liteJson = <T>() => lite.customType<{ data: T }>({ dataType: () => "text", ...jsonCoding<T>() });
const pgJson = <T>() => pg.customType<{ data: T }>({ dataType: () => "text", ...jsonCoding<T>() });

const liteTimestamp = lite.customType<{ data: Date }>({
  dataType: () => "integer",
  ...coding<Date, number>(
    (date) => date.getTime(),
    (ms) => new Date(ms),
  ),
});
const pgTimestamp = pg.customType<{ data: Date }>({
  dataType: () => "timestamp(3) with time zone",
  ...coding<Date, string | Date>(
    (date) => date.toISOString(),
    (moment) => new Date(moment),
  ),
});

const liteBoolean = lite.customType<{ data: boolean }>({
  dataType: () => "integer",
  ...coding<boolean, number>(
    (value) => (value ? 1 : 0),
    (value) => value !== 0,
  ),
});

const pgBytes = pg.customType<{ data: Buffer }>({
  dataType: () => "bytea",
  ...coding<Buffer, Uint8Array>(
    (bytes) => bytes,
    (bytes) => Buffer.from(bytes),
  ),
});

const sqliteKit = {
  table: lite.sqliteTable,
  /** Unicode text. */
  text: (name: string) => lite.text(name),
  /** A whole number up to 2^53. */
  integer: (name: string) => lite.integer(name),
  /** A number that the database counts up by itself; the table's primary key. */
  serial: (name: string) => lite.integer(name).primaryKey({ autoIncrement: true }),
  real: (name: string) => lite.real(name),
  boolean: (name: string) => liteBoolean(name),
  /** A moment with millisecond precision; a Date in code, ISO 8601 on the wire. */
  timestamp: (name: string) => liteTimestamp(name),
  /** Any JSON value, parsed and printed by the query layer. */
  json: <T>(name: string) => liteJson<T>()(name),
  bytes: (name: string) => lite.blob(name, { mode: "buffer" }),
  index: lite.index,
  uniqueIndex: lite.uniqueIndex,
  primaryKey: lite.primaryKey,
};

const postgresKit = {
  table: pg.pgTable,
  text: (name: string) => pg.text(name),
  integer: (name: string) => pg.bigint(name, { mode: "number" }),
  serial: (name: string) => pg.bigint(name, { mode: "number" }).primaryKey().generatedAlwaysAsIdentity(),
  real: (name: string) => pg.doublePrecision(name),
  boolean: (name: string) => pg.boolean(name),
  timestamp: (name: string) => pgTimestamp(name),
  json: <T>(name: string) => pgJson<T>()(name),
  bytes: (name: string) => pgBytes(name),
  index: pg.index,
  uniqueIndex: pg.uniqueIndex,
  primaryKey: pg.primaryKey,
};

export const kit = (dialect === "postgres" ? (postgresKit as unknown) : sqliteKit) as typeof sqliteKit;

export { sql };
