/** Conditions, and what they read, that the shared query builder says differently on the two databases. */
import { type AnyColumn, type Placeholder, type SQL, sql } from "drizzle-orm";
import { dialect } from "./kit.ts";

/** Case-sensitive, every character of `text` literal: LIKE differs between the databases in both. */
export function startsWith(column: AnyColumn, text: string): SQL {
  return sql`substr(${column}, 1, ${[...text].length}) = ${text}`;
}

/** As `startsWith`, of the end. */
export function endsWith(column: AnyColumn, text: string): SQL {
  const { length } = [...text];
  // A shorter one is another text from wherever it is read.
  return sql`(length(${column}) >= ${length} AND substr(${column}, length(${column}) - ${length - 1}) = ${text})`;
}

/** Case-sensitive; `*` stands for any text, every other character for itself. */
export function matches(value: AnyColumn | SQL, pattern: string): SQL {
  if (dialect === "sqlite") return sql`${value} GLOB ${pattern.replace(/[[?]/g, "[$&]")}`;
  return sql`${value} LIKE ${pattern.replace(/[\\%_]/g, "\\$&").replaceAll("*", "%")}`;
}

/** Whether one text of a list that is stored as JSON is as `test` says; of an absent list none is. */
export function someText(list: AnyColumn, test: (text: SQL) => SQL): SQL {
  const text = sql.raw("element.value");
  if (dialect === "sqlite")
    return sql`EXISTS (SELECT 1 FROM json_each(${list}) AS element WHERE ${test(text)})`;
  // PostgreSQL refuses to unpack a list with an escaped NUL, which none of its own texts can hold.
  const unpackable = sql`CASE WHEN strpos(${list}, ${"\\u0000"}) = 0 THEN ${list}::json END`;
  return sql`EXISTS (SELECT 1 FROM json_array_elements_text(${unpackable}) AS element(value) WHERE ${test(text)})`;
}

/** What a query reads the texts of a JSON array from, as rows `name(value)`. */
export function textsOf(list: AnyColumn | Placeholder, name: string): SQL {
  return dialect === "postgres"
    ? sql`json_array_elements_text(${list}::text::json) AS ${sql.identifier(name)}(value)`
    : sql`json_each(${list}) AS ${sql.identifier(name)}`;
}

/**
 * A condition on rows that another index leads to: no index is looked for that knows of this one. PostgreSQL would read all
 * that it knows as well, to see which rows are in both; SQLite might take it for the better way.
 */
export function apart(condition: SQL): SQL {
  return sql`(${condition}) IS TRUE`;
}

/** Whether a text stands anywhere in the column, every character of it literal. */
export function containsText(column: AnyColumn | SQL, text: string): SQL {
  return dialect === "sqlite" ? sql`instr(${column}, ${text}) > 0` : sql`strpos(${column}, ${text}) > 0`;
}

/** The first two parts of a path, such as `u/ann` of `u/ann/x`; of what has less than three parts, no path's. */
export function placeOf(path: AnyColumn): SQL {
  const rest = sql`substr(${path}, 3)`;
  const slash = dialect === "sqlite" ? sql`instr(${rest}, '/')` : sql`strpos(${rest}, '/')`;
  return sql`substr(${path}, 1, ${slash} + 1)`;
}

/** Whether an object that is stored as JSON has one of the keys. */
export function hasKey(object: AnyColumn, keys: readonly string[]): SQL {
  const entries = dialect === "sqlite" ? sql`json_each(${object})` : sql`json_object_keys(${object}::json)`;
  const alias = dialect === "sqlite" ? sql`entry` : sql`entry(key)`;
  // Most objects are empty: those are not taken apart.
  return sql`(${object} <> '{}' AND EXISTS (SELECT 1 FROM ${entries} AS ${alias} WHERE entry.key IN ${[...keys]}))`;
}

/** Whether a path is below a place such as `u/ann`, said so that an index of paths leads SQLite there. */
export function inPlace(path: AnyColumn, place: string): SQL {
  // `0` is the character behind `/`.
  return sql`(${path} >= ${`${place}/`} AND ${path} < ${`${place}0`})`;
}

/** The text of a column, which begins with `before`, with `after` in its place. */
export function replacePrefix(column: AnyColumn, before: string, after: string): SQL {
  return sql`${after} || substr(${column}, ${sql.raw(String([...before].length + 1))})`;
}

/** The time in a column, so many milliseconds earlier. */
export function earlierBy(moment: AnyColumn, by_ms: number): SQL {
  return dialect === "sqlite"
    ? sql`${moment} - ${Math.round(by_ms)}`
    : sql`${moment} - ${by_ms} * interval '1 millisecond'`;
}
