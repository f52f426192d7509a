/**
 * Rows of the full-text index. Their ids follow the creation order of jobs, however late a job is indexed. So reading
 * in descending order finds the newest jobs first, and deleting the smallest ids keeps the newest.
 */
import { and, inArray, not, type SQL, sql } from "drizzle-orm";
import type { Database, Tx } from "../../../database/database.ts";
import { jobSearch, jobs } from "../../../platform/queue/tables.ts";

/** Number of ids per millisecond; if more jobs are created, they use ids of the next one. */
const IDS_PER_MS = 1_024;
/** Largest Unix time in milliseconds whose ids are exact in JavaScript. */
const MAX_MS = Math.floor(Number.MAX_SAFE_INTEGER / IDS_PER_MS) - 1;

/** Returns the first id for jobs created at this time; jobs created later have larger ids. */
export function computeFirstId(moment: Date): number {
  return Math.min(Math.max(moment.getTime(), 0), MAX_MS) * IDS_PER_MS;
}

/** Returns an upper bound of the creation time of the job with this id. */
export function computeLatestCreation(id: number): Date {
  return new Date(Math.floor(id / IDS_PER_MS));
}

/** A job and its words (words.ts), to be indexed. */
export interface JobWords {
  job_id: string;
  words: string;
}

/** Inserts the words of jobs, except those that are indexed already and those whose contents were deleted. */
export async function insertSearchRows(db: Database, tx: Tx, list: readonly JobWords[]): Promise<void> {
  await tx.lock("job search");
  const present = await lockPresent(
    db,
    tx,
    list.map(({ job_id }) => job_id),
  );
  const wordsOf = new Map(list.map(({ job_id, words }) => [job_id, words]));
  const ids = await assignIds(
    tx,
    present.map(({ created_at }) => created_at),
  );
  const rows = present.map(({ id: job_id, workspace_id }, index) => ({
    id: ids[index]!,
    job_id,
    workspace_id,
    words: wordsOf.get(job_id)!,
  }));
  if (rows.length > 0)
    await tx.insert(jobSearch).values(rows).onConflictDoNothing({ target: jobSearch.job_id });
}

/**
 * Returns the jobs whose contents still exist, in creation order, and locks them until the end of the transaction.
 */
async function lockPresent(db: Database, tx: Tx, ids: string[]) {
  if (ids.length === 0) return [];
  if (db.dialect === "postgres")
    await tx.rows(sql`SELECT 1 FROM ${jobs} WHERE ${inArray(jobs.id, ids)} FOR SHARE`);
  return tx
    .select({ id: jobs.id, workspace_id: jobs.workspace_id, created_at: jobs.created_at })
    .from(jobs)
    .where(and(inArray(jobs.id, ids), not(jobs.deleted)))
    .orderBy(jobs.created_at, jobs.id);
}

/** Returns an unused id for each of these creation times, which must be ascending. */
async function assignIds(tx: Tx, moments: readonly Date[]): Promise<number[]> {
  const free = await readFreeIds(tx, [...new Set(moments.map(computeFirstId))]);
  const ids: number[] = [];
  for (const moment of moments) {
    const after = ids.at(-1) ?? -1;
    for (let least = Math.max(computeFirstId(moment), after + 1); ; ) {
      const start = least - (least % IDS_PER_MS);
      if (!free.has(start)) for (const [key, id] of await readFreeIds(tx, [start])) free.set(key, id);
      const id = Math.max(least, free.get(start)!);
      if (id < start + IDS_PER_MS) {
        ids.push(id);
        break;
      }
      least = start + IDS_PER_MS;
    }
  }
  return ids;
}

/** Returns the first unused id of each millisecond, which is given by its first id. */
async function readFreeIds(tx: Tx, starts: readonly number[]): Promise<Map<number, number>> {
  if (starts.length === 0) return new Map();
  const number = (value: number): SQL => sql.raw(String(value));
  const parts = starts.map(
    (start) =>
      sql`SELECT ${number(start)} AS "start", (SELECT max(id) FROM ${jobSearch} WHERE id >= ${number(start)} AND id < ${number(start + IDS_PER_MS)}) AS "last"`,
  );
  const rows = await tx.rows<{ start: number | string; last: number | string | null }>(
    sql.join(parts, sql` UNION ALL `),
  );
  return new Map(
    rows.map(({ start, last }) => [Number(start), last === null ? Number(start) : Number(last) + 1]),
  );
}
