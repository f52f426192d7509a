/** SQL conditions and expressions that differ between the two databases. */
import { type AnyColumn, type Placeholder, type SQL, sql } from "drizzle-orm";
import { dialect } from "./kit.ts";

/**
 * SQL condition: the column starts with the text. Case-sensitive and literal, unlike LIKE, which differs between the
 * databases in both respects.
 */
export function startsWith(column: AnyColumn, text: string): SQL {
  return sql`substr(${column}, 1, ${[...text].length}) = ${text}`;
}

/** Like `startsWith`, for the end of the text. */
export function endsWith(column: AnyColumn, text: string): SQL {
  const { length } = [...text];
  // The length check matters: on a shorter text, substr would start elsewhere.
  return sql`(length(${column}) >= ${length} AND substr(${column}, length(${column}) - ${length - 1}) = ${text})`;
}

/**
 * SQL condition: the value matches a case-sensitive pattern. `*` matches any text, all other characters are literal.
 */
export function matchesPattern(value: AnyColumn | SQL, pattern: string): SQL {
  if (dialect === "sqlite") return sql`${value} GLOB ${pattern.replace(/[[?]/g, "[$&]")}`;
  return sql`${value} LIKE ${pattern.replace(/[\\%_]/g, "\\$&").replaceAll("*", "%")}`;
}

/** Whether any text of a JSON array satisfies `test`; false for NULL. */
export function anyJsonText(list: AnyColumn, test: (text: SQL) => SQL): SQL {
  const text = sql.raw("element.value");
  if (dialect === "sqlite")
    return sql`EXISTS (SELECT 1 FROM json_each(${list}) AS element WHERE ${test(text)})`;
  // PostgreSQL cannot unpack a list with an escaped NUL, which its texts cannot contain anyway.
  const unpackable = sql`CASE WHEN strpos(${list}, ${"\\u0000"}) = 0 THEN ${list}::json END`;
  return sql`EXISTS (SELECT 1 FROM json_array_elements_text(${unpackable}) AS element(value) WHERE ${test(text)})`;
}

/** FROM item that lists the texts of a JSON array, as rows `name(value)`. */
export function jsonArrayRows(list: AnyColumn | Placeholder, name: string): SQL {
  return dialect === "postgres"
    ? sql`json_array_elements_text(${list}::text::json) AS ${sql.identifier(name)}(value)`
    : sql`json_each(${list}) AS ${sql.identifier(name)}`;
}

/**
 * Hides a condition from the planner's index selection, for rows that another index already selects. Otherwise
 * PostgreSQL may combine both indexes, and SQLite may choose the worse one.
 */
export function preventIndexUse(condition: SQL): SQL {
  return sql`(${condition}) IS TRUE`;
}

/** Whether the column contains a text, literally. */
export function containsText(column: AnyColumn | SQL, text: string): SQL {
  return dialect === "sqlite" ? sql`instr(${column}, ${text}) > 0` : sql`strpos(${column}, ${text}) > 0`;
}

/**
 * SQL for the first two parts of a path, such as `u/ann` of `u/ann/x`; not a valid prefix if there are fewer than three
 * parts.
 */
export function selectPathPrefix(path: AnyColumn): SQL {
  const rest = sql`substr(${path}, 3)`;
  const slash = dialect === "sqlite" ? sql`instr(${rest}, '/')` : sql`strpos(${rest}, '/')`;
  return sql`substr(${path}, 1, ${slash} + 1)`;
}

/** Whether a JSON object has one of the keys. */
export function hasAnyKey(object: AnyColumn, keys: readonly string[]): SQL {
  const entries = dialect === "sqlite" ? sql`json_each(${object})` : sql`json_object_keys(${object}::json)`;
  const alias = dialect === "sqlite" ? sql`entry` : sql`entry(key)`;
  // Most objects are empty; the comparison skips unpacking them.
  return sql`(${object} <> '{}' AND EXISTS (SELECT 1 FROM ${entries} AS ${alias} WHERE entry.key IN ${[...keys]}))`;
}

/** Whether a path is below a prefix such as `u/ann`, as a range that an index on paths can serve. */
export function isBelowPrefix(path: AnyColumn, place: string): SQL {
  // `0` is the character after `/`.
  return sql`(${path} >= ${`${place}/`} AND ${path} < ${`${place}0`})`;
}

/** Replaces the prefix `before` of a column's text by `after`. The text must begin with `before`. */
export function replacePrefix(column: AnyColumn, before: string, after: string): SQL {
  return sql`${after} || substr(${column}, ${sql.raw(String([...before].length + 1))})`;
}

/** Subtracts milliseconds from the time in a column. */
export function subtractMilliseconds(moment: AnyColumn, by_ms: number): SQL {
  return dialect === "sqlite"
    ? sql`${moment} - ${Math.round(by_ms)}`
    : sql`${moment} - ${by_ms} * interval '1 millisecond'`;
}
