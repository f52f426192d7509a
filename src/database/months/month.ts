/**
 * Months (UTC) as ranges of job ids. A UUID of version 7 begins with the time at which it was made (RFC 9562 §5.7), so
 * the jobs of a month are neighbours in the order of their ids.
 */
import { type AnyColumn, getTableName, type SQL, type SQLWrapper, sql } from "drizzle-orm";

/** The ids from `from` (included) to `to` (excluded). */
export interface IdRange {
  from: string;
  to: string;
}

export interface Month extends IdRange {
  /** Such as `2026_11`. */
  name: string;
}

/** Returns the month of a moment, or the one so many months later. */
export function getMonthOf(moment: Date, later = 0): Month {
  const start = (months: number) => Date.UTC(moment.getUTCFullYear(), moment.getUTCMonth() + months);
  const name = new Date(start(later)).toISOString().slice(0, 7).replace("-", "_");
  return { name, from: firstId(start(later)), to: firstId(start(later + 1)) };
}

/** Returns the smallest UUID of version 7 made in a millisecond. */
function firstId(ms: number): string {
  const hex = ms.toString(16).padStart(12, "0");
  return `${hex.slice(0, 8)}-${hex.slice(8)}-7000-8000-000000000000`;
}

/** A table whose rows are deleted with a job, and its column with the job's id. */
export interface JobTable {
  table: string;
  key: string;
}

export function toJobTable(key: AnyColumn): JobTable {
  return { table: getTableName(key.table), key: key.name };
}

export const isInRange = (key: SQLWrapper, { from, to }: IdRange): SQL =>
  sql`(${key} >= ${from} AND ${key} < ${to})`;

/** Condition for ids in none of the ranges, as a list of the ranges between: PostgreSQL then reads no other partition. */
export function isOutside(key: SQLWrapper, ranges: readonly IdRange[]): SQL {
  const sorted = ranges.toSorted((a, b) => (a.from < b.from ? -1 : 1));
  const gaps: SQL[] = [];
  let end: string | undefined;
  for (const { from, to } of sorted) {
    if (end === undefined) gaps.push(sql`${key} < ${from}`);
    else if (end < from) gaps.push(isInRange(key, { from: end, to: from }));
    end = to;
  }
  gaps.push(end === undefined ? sql`1 = 1` : sql`${key} >= ${end}`);
  return sql`(${sql.join(gaps, sql` OR `)})`;
}
