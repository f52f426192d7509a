/**
 * Compiles declared statements for PostgreSQL: Drizzle generates the SQL once, and it runs directly on the connection.
 * Batched statements have a second form that processes many rows sent as one JSON text.
 */
import type { SQL as PostgresClient } from "bun";
import { is, Param, Placeholder } from "drizzle-orm";
import { PgBigInt53 } from "drizzle-orm/pg-core";
import { Internal } from "../../lib/errors.ts";
import type { QueryBuilder, Statement } from "../database.ts";

export type Values = Record<string, unknown>;
export type AnyStatement = Statement<never, unknown>;

/** Executes statements: the pool, or one of its connections. */
export type QueryRunner = Pick<PostgresClient, "unsafe">;

export interface CompiledStatement {
  text: string;
  /** Returns the values in the order of the text's parameters. */
  bind(values: Values): unknown[];
  /** Name of each parameter; undefined for constants, whose values are in `fixed`. */
  names: (string | undefined)[];
  fixed: unknown[];
  /** Number columns that the driver returns as text. */
  numbers: string[];
}

export interface RowBatchStatement {
  text: string;
  bind(rows: readonly Values[]): unknown[];
}

export function compileStatement(queries: QueryBuilder, declared: AnyStatement): CompiledStatement {
  const built = declared.build(queries);
  const { sql: text, params } = built.toSQL();
  const { fields = [] } = built.prepare() as { fields?: { field: unknown }[] };
  const numbers = fields.flatMap(({ field }) => (is(field, PgBigInt53) ? [field.name] : []));
  const bare = params.map((parameter) => (is(parameter, Param) ? parameter.value : parameter));
  const names = bare.map((parameter) => (is(parameter, Placeholder) ? parameter.name : undefined));
  const fixed = bare.map((parameter) => (is(parameter, Placeholder) ? undefined : toDriver(parameter)));
  const bind = (values: Values) =>
    names.map((name, index) => (name === undefined ? fixed[index] : toDriver(values[name])));
  return { text, bind, names, fixed, numbers };
}

/** Converts a value of the column kit to PostgreSQL's driver value. */
function toDriver(value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (typeof value !== "object" || value instanceof Uint8Array) return value;
  return value instanceof Date ? value.toISOString() : JSON.stringify(value);
}

/** Compiles the form of a batched statement that processes many rows. */
export async function compileForRows(
  client: PostgresClient,
  { text, names, fixed }: CompiledStatement,
): Promise<RowBatchStatement> {
  const types = await queryParameterTypes(client, text);
  const own = fixed.filter((_, index) => names[index] === undefined);
  const fields = names.flatMap((name, index) => (name === undefined ? [] : [{ name, key: `a${index + 1}` }]));
  let next = 2;
  const parameters = names.map((name, index) =>
    name === undefined ? `$${next++}::${types[index]}` : `given.a${index + 1}`,
  );
  const described = fields.map(({ key }) => `${key} ${types[Number(key.slice(1)) - 1]}`).join(", ");
  const joined = rewriteForRows(text, `from json_to_recordset($1::text::json) as given(${described})`);
  const isCounted = joined.includes("$:count");
  return {
    text: joined
      .replace("$:count", `$${next}::int`)
      .replace(/\$:(\d+)/g, (_, number) => parameters[Number(number) - 1]!),
    bind(all) {
      const rows = JSON.stringify(all.map((values) => toRecord(values, fields)));
      return isCounted ? [rows, ...own, all.length] : [rows, ...own];
    },
  };
}

/** Divides by zero unless the row count matches. */
const REQUIRE_ALL_ROWS = "select 1 / (count(*) = $:count)::int";

/**
 * Rewrites a statement to take its rows from `rows`. Parameters are marked `$:1`, `$:2`, …, and the number of rows
 * `$:count`. If a row is missing, the statement divides by zero, which rolls the transaction back.
 */
function rewriteForRows(text: string, rows: string): string {
  const marked = text.replace(/\$(\d+)/g, "$:$1");
  const insert = /^insert into ("\w+") \(([^()]+)\) values \(([^()]+)\)( on conflict .+)?$/.exec(marked);
  if (insert) {
    const [, table, columns, values, instead = ""] = insert as unknown as [string, string, string, string];
    const given = values.split(", ");
    const isGiven = (_: string, index: number) => given[index] !== "default";
    const into = columns.split(", ").filter(isGiven).join(", ");
    return `insert into ${table} (${into}) select ${given.filter(isGiven).join(", ")} ${rows}${instead}`;
  }
  const insertMany = /^(insert into "\w+" \([^()]+\) select .+) from (.+)$/.exec(marked);
  if (insertMany) return `${insertMany[1]} ${rows}, ${insertMany[2]}`;
  const select = /^select .+? (from "\w+") where (.+)$/.exec(marked);
  if (select) return `${REQUIRE_ALL_ROWS} ${select[1]}, ${rows.slice("from ".length)} where ${select[2]}`;
  const update = /^(update "\w+" set .+?) where (.+?)(?: returning [^()]+)?$/.exec(marked);
  const key = /\$:\d+/.exec(update?.[2] ?? "")?.[0];
  if (!update || !key) throw new Internal("a shared statement inserts rows, updates one or finds one");
  // The last condition makes the planner expect few rows and use the index, even if it planned on an empty table.
  const changed = `${update[1]} ${rows} where ${update[2]} and ${key}::text || '' = ${key}::text returning 1`;
  return `with changed as (${changed}) ${REQUIRE_ALL_ROWS} from changed`;
}

function toRecord(values: Values, fields: readonly { name: string; key: string }[]): Values {
  const record: Values = {};
  for (const { name, key } of fields) {
    const value = toDriver(values[name]);
    if (value !== null) record[key] = value;
  }
  return record;
}

/** Returns the parameter types that PostgreSQL infers for a statement. */
function queryParameterTypes(client: PostgresClient, text: string): Promise<string[]> {
  return client.begin(async (connection) => {
    await connection.unsafe(`PREPARE described AS ${text}`);
    const rows = (await connection.unsafe(
      `SELECT type FROM pg_prepared_statements, unnest(parameter_types::text[]) WITH ORDINALITY AS found(type, number)
       WHERE name = 'described' ORDER BY number`,
    )) as { type: string }[];
    await connection.unsafe("DEALLOCATE described");
    return rows.map(({ type }) => type);
  });
}
