/** Conditions that the shared query builder says differently on the two databases. */
import { type AnyColumn, type SQL, sql } from "drizzle-orm";

/** Case-sensitive, every character of `text` literal: LIKE differs between the databases in both. */
export function startsWith(column: AnyColumn, text: string): SQL {
  return sql`substr(${column}, 1, ${[...text].length}) = ${text}`;
}
