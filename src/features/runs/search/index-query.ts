/** Reads the full-text index of jobs. */

import type { SQL } from "drizzle-orm";
import { and, eq, gte, inArray, lt, sql } from "drizzle-orm";
import type { App } from "../../../platform/app/context.ts";
import { jobSearch, jobs } from "../../../platform/queue/tables.ts";
import { computeFirstId, computeLatestCreation } from "./rows.ts";
import { isPrefixTerm } from "./words.ts";

/**
 * Number of matches read by the first statement, and the maximum. If few of them meet the condition, further
 * statements read increasingly many.
 */
const FIRST_WINDOW = 250;
const LAST_WINDOW = 10_000;
/** Rows of jobs read at once. */
const BATCH_SIZE = 500;
/**
 * Upper limit of how far ids may run ahead of creation times, in milliseconds, if many jobs are created within one
 * millisecond.
 */
const SPILL_MS = 10_000;

export interface IndexQuery {
  workspace_id: string;
  terms: readonly string[];
  /** Condition on the jobs. */
  condition: SQL | undefined;
  /** Bounds on the creation of the jobs. */
  created_before?: Date | undefined;
  created_after?: Date | undefined;
}

/** Jobs found in the index, and the creation time before which there may be more. */
export interface IndexWindow {
  ids: string[];
  reached: Date | undefined;
}

/**
 * Yields the ids of indexed jobs that contain all terms and meet the condition, most recently created first, in
 * groups.
 */
export async function* findIndexed({ db }: Pick<App, "db">, query: IndexQuery): AsyncGenerator<IndexWindow> {
  const { condition, created_before, created_after } = query;
  const least = created_after ? computeFirstId(created_after) : 0;
  const matches = db.dialect === "postgres" ? matchesOnPostgres(query) : matchesOnSqlite(query);
  let below = created_before
    ? computeFirstId(new Date(created_before.getTime() + SPILL_MS))
    : Number.MAX_SAFE_INTEGER;
  for (let size = FIRST_WINDOW; ; size = Math.min(size * 4, LAST_WINDOW)) {
    const within = and(lt(jobSearch.id, below), gte(jobSearch.id, least), matches(below, size));
    // A search reads all entries of its terms' prefixes, however few rows it returns.
    const window = await db.readAside<{ id: number | string; job_id: string }>(
      sql`SELECT ${jobSearch.id} AS id, ${jobSearch.job_id} AS job_id FROM ${jobSearch} WHERE ${within} ORDER BY ${jobSearch.id} DESC LIMIT ${sql.raw(String(size))}`,
    );
    for (let at = 0; at < window.length; at += BATCH_SIZE) {
      const batch = window.slice(at, at + BATCH_SIZE);
      const some = batch.map(({ job_id }) => job_id);
      const rows = await db.readAside<{ id: string }>(
        sql`SELECT ${jobs.id} AS id FROM ${jobs} WHERE ${and(inArray(jobs.id, some), condition)}`,
      );
      const found = new Set(rows.map(({ id }) => id));
      below = Number(batch.at(-1)!.id);
      const isLast = window.length < size && at + BATCH_SIZE >= window.length;
      yield {
        ids: some.filter((id) => found.has(id)),
        reached: isLast ? undefined : computeLatestCreation(below),
      };
    }
    if (window.length < size) return;
  }
}

/**
 * SQL condition: the job's words match the terms, which need no escaping: they contain letters, digits and spaces only.
 */
const matchesOnPostgres = ({ workspace_id, terms }: IndexQuery) => {
  const query = terms
    .map((term) => `(${term.replaceAll(" ", " <-> ")}${isPrefixTerm(term) ? ":*" : ""})`)
    .join(" & ");
  const inWorkspace = eq(jobSearch.workspace_id, workspace_id);
  return () => and(inWorkspace, sql`${jobSearch.words} @@ ${query}::tsquery`);
};

/**
 * SQL condition: the job's words match the terms. The workspace is stored as the first word of each job, in a form that
 * no query can contain (migration `0013_job_search_order`).
 */
const matchesOnSqlite = ({ workspace_id, terms }: IndexQuery) => {
  const workspace = `"§${Buffer.from(workspace_id).toString("hex")}"`;
  const query = [workspace, ...terms.map((term) => `"${term}"${isPrefixTerm(term) ? "*" : ""}`)].join(
    " AND ",
  );
  return (below: number, size: number) =>
    sql`${jobSearch.id} IN (SELECT rowid FROM job_search_words WHERE job_search_words MATCH ${query} AND rowid < ${below} ORDER BY rowid DESC LIMIT ${size})`;
};
