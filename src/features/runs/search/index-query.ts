/** Reads the full-text index of jobs. */

import type { SQL } from "drizzle-orm";
import { and, desc, inArray, lt, sql } from "drizzle-orm";
import { yieldToEventLoop } from "../../../lib/async/yield.ts";
import type { App } from "../../../platform/app/context.ts";
import { jobSearch, jobs } from "../../../platform/queue/tables.ts";

/** Matches read by one statement. */
const WINDOW_SIZE = 1_000;

/**
 * Yields the ids of indexed jobs that have all terms and meet a condition, those that completed last first, in groups.
 */
export async function* findIndexed(
  { db }: Pick<App, "db">,
  terms: readonly string[],
  condition: SQL | undefined,
  signal: AbortSignal | undefined,
): AsyncGenerator<string[]> {
  const matches = db.dialect === "postgres" ? matchesOnPostgres(terms) : matchesOnSqlite(terms);
  for (let below = Number.MAX_SAFE_INTEGER; !signal?.aborted; ) {
    const window = await db.read
      .select({ id: jobSearch.id, job_id: jobSearch.job_id })
      .from(jobSearch)
      .where(and(lt(jobSearch.id, below), matches(below)))
      .orderBy(desc(jobSearch.id))
      .limit(WINDOW_SIZE);
    const last = window.at(-1);
    if (!last) return;
    const ids = window.map(({ job_id }) => job_id);
    const rows = await db.read
      .select({ id: jobs.id })
      .from(jobs)
      .where(and(inArray(jobs.id, ids), condition));
    const found = new Set(rows.map(({ id }) => id));
    yield ids.filter((id) => found.has(id));
    if (window.length < WINDOW_SIZE) return;
    below = last.id;
    await yieldToEventLoop();
  }
}

/** Terms hold letters, digits and spaces only: they need no escaping. The last word of each may go on. */
const matchesOnPostgres = (terms: readonly string[]) => {
  const query = terms.map((term) => `(${term.replaceAll(" ", " <-> ")}:*)`).join(" & ");
  return () => sql`${jobSearch.words} @@ ${query}::tsquery`;
};

const matchesOnSqlite = (terms: readonly string[]) => {
  const query = terms.map((term) => `"${term}"*`).join(" AND ");
  return (below: number) =>
    sql`${jobSearch.id} IN (SELECT rowid FROM job_search_words WHERE job_search_words MATCH ${query} AND rowid < ${below} ORDER BY rowid DESC LIMIT ${WINDOW_SIZE})`;
};
