/**
 * Declared statements on PostgreSQL: Drizzle writes their SQL once, running them goes straight to the connection. Of a
 * shared statement there is a second form, which does for many rows, sent as one JSON text, what the first does for one.
 */
import type { SQL as PostgresClient } from "bun";
import { is, Param, Placeholder } from "drizzle-orm";
import { PgBigInt53 } from "drizzle-orm/pg-core";
import { Internal } from "../../lib/errors.ts";
import type { Queries, Statement } from "../database.ts";

export type Values = Record<string, unknown>;
export type AnyStatement = Statement<never, unknown>;

/** What runs a statement: the pool, or one connection of it. */
export type Connection = Pick<PostgresClient, "unsafe">;

export interface Compiled {
  text: string;
  /** The values in the order of the text's parameters. */
  bind(values: Values): unknown[];
  /** The name of each parameter; undefined for one with a value of its own, which `fixed` holds. */
  names: (string | undefined)[];
  fixed: unknown[];
  /** Columns of its rows that come as text and are numbers. */
  numbers: string[];
}

export interface Joined {
  text: string;
  bind(rows: readonly Values[]): unknown[];
}

export function compile(queries: Queries, declared: AnyStatement): Compiled {
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

/** What the column kit's types are to PostgreSQL. */
function toDriver(value: unknown): unknown {
  if (value === null || value === undefined) return null;
  if (typeof value !== "object" || value instanceof Uint8Array) return value;
  return value instanceof Date ? value.toISOString() : JSON.stringify(value);
}

/** Makes the form of a shared statement that does the same for many rows. */
export async function joinRows(client: PostgresClient, { text, names, fixed }: Compiled): Promise<Joined> {
  const types = await parameterTypes(client, text);
  const own = fixed.filter((_, index) => names[index] === undefined);
  const fields = names.flatMap((name, index) => (name === undefined ? [] : [{ name, key: `a${index + 1}` }]));
  let next = 2;
  const parameters = names.map((name, index) =>
    name === undefined ? `$${next++}::${types[index]}` : `given.a${index + 1}`,
  );
  const described = fields.map(({ key }) => `${key} ${types[Number(key.slice(1)) - 1]}`).join(", ");
  const joined = forMany(text, `from json_to_recordset($1::text::json) as given(${described})`);
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

/** Divides by zero unless there are as many rows as there are to be. */
const ALL_THERE = "select 1 / (count(*) = $:count)::int";

/**
 * The statement for rows that come from elsewhere; its parameters are marked `$:1`, `$:2`, …, and how many rows there are
 * `$:count`. One that does not find all of them divides by zero: its transaction can but roll back.
 */
function forMany(text: string, rows: string): string {
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
  if (select) return `${ALL_THERE} ${select[1]}, ${rows.slice("from ".length)} where ${select[2]}`;
  const update = /^(update "\w+" set .+?) where (.+?)(?: returning [^()]+)?$/.exec(marked);
  const key = /\$:\d+/.exec(update?.[2] ?? "")?.[0];
  if (!update || !key) throw new Internal("a shared statement inserts rows, updates one or finds one");
  // By the last condition the planner expects few rows: it looks up each, also where it planned for an empty table.
  const changed = `${update[1]} ${rows} where ${update[2]} and ${key}::text || '' = ${key}::text returning 1`;
  return `with changed as (${changed}) ${ALL_THERE} from changed`;
}

function toRecord(values: Values, fields: readonly { name: string; key: string }[]): Values {
  const record: Values = {};
  for (const { name, key } of fields) {
    const value = toDriver(values[name]);
    if (value !== null) record[key] = value;
  }
  return record;
}

/** The types that PostgreSQL finds for a statement's parameters. */
function parameterTypes(client: PostgresClient, text: string): Promise<string[]> {
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
