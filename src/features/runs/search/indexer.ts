/**
 * Fills the full-text index of completed jobs, on the leader, behind the jobs: storing a job costs nothing more. Each
 * pass reads the jobs that completed since the last one, in small batches with pauses, so that it takes at most a tenth
 * of the time. How many jobs are kept is the setting `job_search_index`; with 0 the index is emptied.
 *
 * The table `job_search_progress` says how far it got. Jobs beyond, and unfinished ones, are searched without the index
 * (features/runs/api/lists/search-operations.ts). Whoever deletes a job's contents deletes its row of `job_search` after that, in the same transaction.
 */
import { and, asc, desc, eq, gt, inArray, lte, not, or, type SQL, sql } from "drizzle-orm";
import type { Database, Tx } from "../../../database/database.ts";
import type { Service } from "../../../lib/async/service.ts";
import { sleep } from "../../../lib/async/sleep.ts";
import type { App } from "../../../platform/app/context.ts";
import { createPeriodicTask } from "../../../platform/loops/periodic-task.ts";
import { jobSearch, jobSearchProgress, jobs } from "../../../platform/queue/tables.ts";
import { MAX_TEXT_CHARS, wordsOfJob } from "./words.ts";

const INTERVAL_MS = 5_000;
/** Jobs read and stored at once. */
const BATCH_SIZE = 100;
/** Pause after a batch, as a multiple of the time that it took. */
const PAUSE_FACTOR = 9;
/** Where servers share a database: commits of other servers may come late, by clocks that differ. */
const CLUSTER_DELAY_MS = 60_000;

/** How far the index is filled. */
export type SearchProgress = typeof jobSearchProgress.$inferSelect;

export async function readSearchProgress({ read }: Database): Promise<SearchProgress | undefined> {
  const [progress] = await read.select().from(jobSearchProgress);
  return progress;
}

/** Makes the indexer look again at jobs that completed since then: some were stored late. */
export async function lowerSearchProgress(tx: Tx, completed_at: Date): Promise<void> {
  await tx
    .update(jobSearchProgress)
    .set({ completed_at, job_id: "" })
    .where(gt(jobSearchProgress.completed_at, completed_at));
}

export function createSearchIndexer(app: App): Service {
  return createPeriodicTask(app, {
    leader_task: "search index",
    failure_message: "the full-text index of jobs could not be filled",
    first_delay_ms: INTERVAL_MS,
    interval_ms: INTERVAL_MS,
    run: (now, stopping) => fillSearchIndex(app, now, stopping),
  });
}

/** Indexes all jobs that completed by now, and deletes the oldest rows beyond the index's size. */
export async function fillSearchIndex(app: App, now: Date, stopping?: AbortSignal): Promise<void> {
  const size = app.settings.get("job_search_index");
  const until = new Date(now.getTime() - (app.db.channel ? CLUSTER_DELAY_MS : 0));
  const index = () => indexBatch(app.db, size, until);
  const trim = () => trimIndex(app.db, size);
  for (const step of size > 0 ? [index, trim] : [trim]) {
    for (let goesOn = true; goesOn && !stopping?.aborted; ) {
      const began = performance.now();
      goesOn = await step();
      if (goesOn) await sleep((performance.now() - began) * PAUSE_FACTOR, stopping);
    }
  }
}

/** Indexes the next jobs. @returns whether there may be more */
async function indexBatch(db: Database, size: number, until: Date): Promise<boolean> {
  const progress = (await readSearchProgress(db)) ?? (await startProgress(db, size));
  const { completed_at, job_id } = progress;
  const isNext = or(
    gt(jobs.completed_at, completed_at),
    and(eq(jobs.completed_at, completed_at), gt(jobs.id, job_id)),
  );
  const page = await db.read
    .select({ id: jobs.id, completed_at: jobs.completed_at })
    .from(jobs)
    // The partial index is used only for a literal condition.
    .where(
      and(
        sql`${jobs.state} = 'completed'`,
        sql`${jobs.completed_at} >= ${at(completed_at)}`,
        isNext,
        lte(jobs.completed_at, until),
      ),
    )
    .orderBy(asc(jobs.completed_at), asc(jobs.id))
    .limit(BATCH_SIZE);
  const last = page.at(-1);
  if (!last) return false;
  const rows = await readWords(
    db,
    page.map(({ id }) => id),
  );
  await db.write(
    async (tx) => {
      const present = await lockPresent(
        db,
        tx,
        rows.map(({ job_id }) => job_id),
      );
      const some = rows.filter(({ job_id }) => present.has(job_id));
      if (some.length > 0) await tx.insert(jobSearch).values(some).onConflictDoNothing();
      // Lowered meanwhile, it stays.
      await tx
        .update(jobSearchProgress)
        .set({ completed_at: last.completed_at!, job_id: last.id })
        .where(and(eq(jobSearchProgress.completed_at, completed_at), eq(jobSearchProgress.job_id, job_id)));
    },
    { lazy: true },
  );
  return page.length === BATCH_SIZE;
}

const at = (moment: Date) => sql.param(moment, jobs.completed_at);

/** Begins with the newest jobs that the index may hold. */
async function startProgress(db: Database, size: number): Promise<SearchProgress> {
  const [first] = await db.read
    .select({ completed_at: jobs.completed_at })
    .from(jobs)
    .where(sql`${jobs.state} = 'completed'`)
    .orderBy(desc(jobs.completed_at))
    .limit(1)
    .offset(size);
  const oldest = first?.completed_at ?? null;
  const progress = { id: 1, completed_at: oldest ?? new Date(0), job_id: "", oldest };
  await db.write((tx) => tx.insert(jobSearchProgress).values(progress).onConflictDoNothing());
  return progress;
}

async function readWords(db: Database, ids: string[]): Promise<{ job_id: string; words: string }[]> {
  const head = (column: typeof jobs.args | typeof jobs.result) =>
    sql<string>`substr(${column}, 1, ${sql.raw(`${MAX_TEXT_CHARS}`)})`;
  const { id, script_path, created_by, labels } = jobs;
  const rows = await db.read
    .select({ id, script_path, created_by, labels, args: head(jobs.args), result: head(jobs.result) })
    .from(jobs)
    .where(and(inArray(jobs.id, ids), not(jobs.deleted)));
  const byId = new Map(rows.map((row) => [row.id, row]));
  // The newest get the greatest ids.
  return ids.flatMap((job_id) => {
    const row = byId.get(job_id);
    return row ? [{ job_id, words: wordsOfJob(row) }] : [];
  });
}

/** Returns which jobs still have their contents; until the end of the transaction these stay. */
async function lockPresent(db: Database, tx: Tx, ids: string[]): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const lock: SQL = db.dialect === "postgres" ? sql`FOR SHARE` : sql``;
  const which = and(inArray(jobs.id, ids), not(jobs.deleted));
  const rows = await tx.rows<{ id: string }>(
    sql`SELECT ${jobs.id} AS id FROM ${jobs} WHERE ${which} ${lock}`,
  );
  return new Set(rows.map(({ id }) => id));
}

/**
 * Returns the id of the newest row beyond the size. On PostgreSQL ids have gaps, of writes that were done again, so rows
 * are counted there. On SQLite, where that would hold up the event loop, rows that were deleted count as well.
 */
async function newestBeyond(db: Database, size: number, last: number): Promise<number | undefined> {
  if (db.dialect === "sqlite") return last - size;
  const rows = db.read.select({ id: jobSearch.id }).from(jobSearch).orderBy(desc(jobSearch.id));
  const [row] = await rows.limit(1).offset(size);
  return row && Number(row.id);
}

/** Deletes the oldest rows beyond the size; with 0 everything. @returns whether there may be more */
async function trimIndex(db: Database, size: number): Promise<boolean> {
  const [ends] = await db.read.rows<{ first: number | null; last: number | null }>(
    sql`SELECT (SELECT min(id) FROM ${jobSearch}) AS first, (SELECT max(id) FROM ${jobSearch}) AS last`,
  );
  if (ends?.first == null || ends.last == null) {
    if (size === 0) await db.write((tx) => tx.delete(jobSearchProgress));
    return false;
  }
  const first = Number(ends.first);
  if (Number(ends.last) - first < size) return false;
  const beyond = await newestBeyond(db, size, Number(ends.last));
  if (beyond === undefined) return false;
  const through = Math.min(beyond, first + BATCH_SIZE);
  await db.write(
    async (tx) => {
      const gone = await tx
        .delete(jobSearch)
        .where(lte(jobSearch.id, through))
        .returning({ job_id: jobSearch.job_id });
      const oldest = tx
        .select({ at: sql`max(${jobs.completed_at})` })
        .from(jobs)
        .where(
          inArray(
            jobs.id,
            gone.map(({ job_id }) => job_id),
          ),
        );
      await tx
        .update(jobSearchProgress)
        .set({ oldest: sql`coalesce((${oldest}), ${jobSearchProgress.oldest})` });
    },
    { lazy: true },
  );
  return true;
}
