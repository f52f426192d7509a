/**
 * The column kit: tables are described once and translated for SQLite and PostgreSQL. The PostgreSQL kit is cast to the
 * SQLite kit's type, so queries are written and typed once.
 *
 * A process uses one database for its whole life; DATABASE_URL selects it before any table is described.
 *
 * JSON is stored as text in both, and the hot path never parses it. It comes out unchanged: key order, large numbers,
 * and an escaped NUL, which `jsonb` would reject.
 */
import { sql } from "drizzle-orm";
import * as pg from "drizzle-orm/pg-core";
import * as lite from "drizzle-orm/sqlite-core";
import { parseSchemaJson } from "../lib/json/json.ts";

export type Dialect = "sqlite" | "postgres";

export const dialect: Dialect = process.env.DATABASE_URL ? "postgres" : "sqlite";

/**
 * Conversion between code and driver values. Placeholders pass null to the encoder too, which drizzle's own columns do
 * not expect.
 */
interface Codec<T> {
  toDriver: (value: T) => never;
  fromDriver: (value: unknown) => T;
}

function createCodec<T, D>(encode: (value: T) => D, decode: (value: D) => T): Codec<T> {
  return {
    toDriver: (value) => (value === null ? null : encode(value)) as never,
    fromDriver: decode as (value: unknown) => T,
  };
}

const createJsonCodec = <T>() => createCodec<T, string>(JSON.stringify, (text) => parseSchemaJson(text) as T);

const liteJson = <T>() => lite.customType<{ data: T }>({ dataType: () => "text", ...createJsonCodec<T>() });
const pgJson = <T>() => pg.customType<{ data: T }>({ dataType: () => "text", ...createJsonCodec<T>() });

const liteTimestamp = lite.customType<{ data: Date }>({
  dataType: () => "integer",
  ...createCodec<Date, number>(
    (date) => date.getTime(),
    (ms) => new Date(ms),
  ),
});
const pgTimestamp = pg.customType<{ data: Date }>({
  dataType: () => "timestamp(3) with time zone",
  ...createCodec<Date, string | Date>(
    (date) => date.toISOString(),
    (moment) => new Date(moment),
  ),
});

const liteBoolean = lite.customType<{ data: boolean }>({
  dataType: () => "integer",
  ...createCodec<boolean, number>(
    (value) => (value ? 1 : 0),
    (value) => value !== 0,
  ),
});

const pgBytes = pg.customType<{ data: Buffer }>({
  dataType: () => "bytea",
  ...createCodec<Buffer, Uint8Array>(
    (bytes) => bytes,
    (bytes) => Buffer.from(bytes),
  ),
});

/** Words with single spaces between them, stored as a `tsvector`: neither parser nor dictionary of PostgreSQL is used. */
const pgWords = pg.customType<{ data: string }>({
  dataType: () => "tsvector",
  ...createCodec<string, string>(
    (words) =>
      words === ""
        ? ""
        : words
            .split(" ")
            .map((word, index) => `${word}:${index + 1}`)
            .join(" "),
    (vector) => vector,
  ),
});

const sqliteKit = {
  table: lite.sqliteTable,
  /** Unicode text. */
  text: (name: string) => lite.text(name),
  /** An integer up to 2^53. */
  integer: (name: string) => lite.integer(name),
  /** An auto-incremented primary key. */
  serial: (name: string) => lite.integer(name).primaryKey({ autoIncrement: true }),
  real: (name: string) => lite.real(name),
  boolean: (name: string) => liteBoolean(name),
  /** A timestamp with millisecond precision; a Date in code, ISO 8601 on the wire. */
  timestamp: (name: string) => liteTimestamp(name),
  /** Any JSON value, parsed and serialized by the query layer. */
  json: <T>(name: string) => liteJson<T>()(name),
  bytes: (name: string) => lite.blob(name, { mode: "buffer" }),
  /** Words with single spaces between them, of letters and digits only, for full-text search; written, never read. */
  words: (name: string) => lite.text(name),
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
  words: (name: string) => pgWords(name),
  index: pg.index,
  uniqueIndex: pg.uniqueIndex,
  primaryKey: pg.primaryKey,
};

export const tableKit = (dialect === "postgres" ? (postgresKit as unknown) : sqliteKit) as typeof sqliteKit;

export { sql };
