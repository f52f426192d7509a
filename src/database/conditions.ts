/** Conditions that the shared query builder says differently on the two databases. */
import { type AnyColumn, type SQL, sql } from "drizzle-orm";
import { dialect } from "./kit.ts";

/** Case-sensitive, every character of `text` literal: LIKE differs between the databases in both. */
export function startsWith(column: AnyColumn, text: string): SQL {
  return sql`substr(${column}, 1, ${[...text].length}) = ${text}`;
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
