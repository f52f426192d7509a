/**
 * Rows of the full-text index. Their ids follow the creation of the jobs, however late a job is indexed: reading them
 * from the greatest on finds the newest jobs first, and deleting the smallest leaves the newest.
 */
import { and, inArray, not, type SQL, sql } from "drizzle-orm";
import type { Database, Tx } from "../../../database/database.ts";
import { jobSearch, jobs } from "../../../platform/queue/tables.ts";

/** Ids for the jobs of one millisecond; more than that continue in the next one. */
const IDS_PER_MS = 1_024;
/** Greatest millisecond whose ids are exact in code. */
const MAX_MS = Math.floor(Number.MAX_SAFE_INTEGER / IDS_PER_MS) - 1;

/** Returns the first id for jobs created then: those of jobs created later are not smaller. */
export function firstIdFor(moment: Date): number {
  return Math.min(Math.max(moment.getTime(), 0), MAX_MS) * IDS_PER_MS;
}

/** Returns a moment by which the job with this id was created. */
export function latestCreation(id: number): Date {
  return new Date(Math.floor(id / IDS_PER_MS));
}

/** Jobs' words (words.ts), which the index stores. */
export interface JobWords {
  job_id: string;
  words: string;
}

/** Stores the words of jobs, leaving out those that are indexed already and those whose contents were deleted. */
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

/** Returns the jobs that still have their contents, in the order of creation; until the end of the transaction they stay. */
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

/** Returns a free id for each of these moments, which ascend. */
async function assignIds(tx: Tx, moments: readonly Date[]): Promise<number[]> {
  const free = await readFreeIds(tx, [...new Set(moments.map(firstIdFor))]);
  const ids: number[] = [];
  for (const moment of moments) {
    const after = ids.at(-1) ?? -1;
    for (let least = Math.max(firstIdFor(moment), after + 1); ; ) {
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

/** Returns the first id after the stored ones of each millisecond, which is given by its first id. */
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
