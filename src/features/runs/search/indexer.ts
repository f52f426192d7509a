/**
 * Fills the full-text index of completed jobs asynchronously, on the leader, so that storing a job costs nothing extra.
 * Each pass reads the jobs that completed since the last one, in small batches with pauses, and so takes at most a
 * tenth of the time, and about a hundredth while the server has much to store. The setting `job_search_index` limits
 * the number of indexed jobs, the most recently created ones; with 0 the index is emptied. The table
 * `job_search_progress` stores the position. Jobs that are not indexed, and unfinished ones, are searched without the
 * index (features/runs/api/lists/search-operations.ts). Imported jobs, whose completion is in the past, are indexed by
 * the importing transaction (`indexImported`). Code that deletes a job's contents deletes its row of `job_search`
 * afterwards, in the same transaction.
 */
import { and, asc, eq, gt, inArray, lte, not, or, sql } from "drizzle-orm";
import type { Database, Tx } from "../../../database/database.ts";
import { memoizePerApp } from "../../../lib/async/per-app.ts";
import type { Service } from "../../../lib/async/service.ts";
import { sleep } from "../../../lib/async/sleep.ts";
import type { App } from "../../../platform/app/context.ts";
import { createPeriodicTask } from "../../../platform/loops/periodic-task.ts";
import { jobSearch, jobSearchProgress, jobs, type NewJob } from "../../../platform/queue/tables.ts";
import { computeLatestCreation, insertSearchRows, type JobWords } from "./rows.ts";
import { listJobWords, MAX_TEXT_CHARS } from "./words.ts";

const INTERVAL_MS = 5_000;
/** Jobs read and stored at once. */
const BATCH_SIZE = 100;
/** Pause after a batch, as a multiple of the time that it took; the second while the database is busy. */
const PAUSE_FACTOR = 9;
const BUSY_PAUSE_FACTOR = 99;
/** Maximum pause in milliseconds: a batch may have waited for the database. */
const MAX_PAUSE_MS = 1_000;
/** Writes per second from which on the database counts as busy. */
const BUSY_WRITES = 2_000;
/**
 * Jobs that completed more recently are not indexed yet: jobs with an earlier completion time may still be in the
 * process of being stored, and servers' clocks may differ.
 */
const DELAY_MS = 10_000;
const CLUSTER_DELAY_MS = 60_000;
/** The index may exceed its limit by this share before its rows are counted. */
const EXCESS_SHARE = 1 / 1_000;
/** The same while a pass has more jobs to index. */
const EXCESS_SHARE_OF_PASS = 1 / 10;
/** Time limit of counting rows, in milliseconds. */
const COUNT_TIMEOUT_MS = 60_000;

/** The indexer's position. */
export type SearchProgress = typeof jobSearchProgress.$inferSelect;

/** Estimated number of rows in the index, from this server's last count; undefined before the first one. */
const sizeOf = memoizePerApp<App, { most?: number }>(() => ({}));

export async function readSearchProgress({ read }: Database): Promise<SearchProgress | undefined> {
  const [progress] = await read.select().from(jobSearchProgress);
  return progress;
}

/** Moves the indexer's position back after the clock was set back, so that it sees jobs that complete from now on. */
export async function rewindSearchIndex(app: App): Promise<void> {
  const completed_at = new Date(app.clock().getTime() - CLUSTER_DELAY_MS);
  await app.db.write((tx) =>
    tx
      .update(jobSearchProgress)
      .set({ completed_at, last_job: "" })
      .where(gt(jobSearchProgress.completed_at, completed_at)),
  );
}

/** Indexes jobs that are inserted as completed, in the same transaction. */
export async function indexImported(app: App, tx: Tx, rows: readonly NewJob[]): Promise<void> {
  if (app.settings.get("job_search_index") === 0) return;
  const words = rows.flatMap((row) => {
    if (row.state !== "completed" || row.deleted) return [];
    const { script_path = null, result = null, labels = null } = row;
    return [{ job_id: row.id, words: listJobWords({ ...row, script_path, result, labels }) }];
  });
  await insertSearchRows(app.db, tx, words);
  sizeOf(app).most = undefined;
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

/** Indexes newly completed jobs, and deletes rows beyond the limit. Ends early if the limit changes. */
export async function fillSearchIndex(app: App, now: Date, stopping?: AbortSignal): Promise<void> {
  const size = app.settings.get("job_search_index");
  const isValid = () => app.settings.get("job_search_index") === size;
  const until = new Date(now.getTime() - (app.db.channel ? CLUSTER_DELAY_MS : DELAY_MS));
  // After this read barrier, all rows read are on disk.
  await app.db.write(async () => {}, { lazy: true });
  if (size > 0) {
    const index = async () => {
      if (!isValid() || !(await indexBatch(app, size, until))) return false;
      await trimOldest(app, size);
      return true;
    };
    await repeatGently(app.db, index, stopping);
  }
  let excess = await countExcess(app, size);
  await repeatGently(
    app.db,
    async () => {
      if (excess <= 0 || !isValid()) return false;
      await deleteOldest(app, Math.min(excess, BATCH_SIZE));
      excess -= BATCH_SIZE;
      return true;
    },
    stopping,
  );
  if (excess > 0) sizeOf(app).most = undefined;
  else if (size === 0 && isValid() && (await readSearchProgress(app.db)))
    await app.db.write((tx) => tx.delete(jobSearchProgress));
}

/** Repeats a step, with pauses, as long as it returns true. */
async function repeatGently(
  db: Database,
  step: () => Promise<boolean>,
  stopping: AbortSignal | undefined,
): Promise<void> {
  let isBusy = false;
  for (let goesOn = true; goesOn && !stopping?.aborted; ) {
    const began = performance.now();
    const before = db.stats().writes;
    goesOn = await step();
    if (!goesOn) return;
    const pause_ms = (performance.now() - began) * (isBusy ? BUSY_PAUSE_FACTOR : PAUSE_FACTOR);
    await sleep(Math.min(pause_ms, MAX_PAUSE_MS), stopping);
    isBusy = db.stats().writes - before > ((performance.now() - began) / 1000) * BUSY_WRITES;
  }
}

/** Indexes the next jobs. @returns whether there may be more */
async function indexBatch(app: App, size: number, until: Date): Promise<boolean> {
  const { db } = app;
  const progress = (await readSearchProgress(db)) ?? (await startProgress(db, size));
  const { completed_at, last_job } = progress;
  const isNext = or(
    gt(jobs.completed_at, completed_at),
    and(eq(jobs.completed_at, completed_at), gt(jobs.id, last_job)),
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
      await insertSearchRows(db, tx, rows);
      // If another server has lowered the position, it stays lowered.
      await tx
        .update(jobSearchProgress)
        .set({ completed_at: last.completed_at!, last_job: last.id })
        .where(
          and(eq(jobSearchProgress.completed_at, completed_at), eq(jobSearchProgress.last_job, last_job)),
        );
    },
    { lazy: true },
  );
  const counted = sizeOf(app);
  if (counted.most !== undefined) counted.most += rows.length;
  return page.length === BATCH_SIZE;
}

const at = (moment: Date) => sql.param(moment, jobs.completed_at);

/** Starts with the most recently completed jobs, as many as the index may hold. */
async function startProgress(db: Database, size: number): Promise<SearchProgress> {
  const [first] = await db.readAside<{ completed_at: Date | number }>(
    sql`SELECT ${jobs.completed_at} AS completed_at FROM ${jobs} WHERE ${jobs.state} = 'completed' ORDER BY ${jobs.completed_at} DESC LIMIT 1 OFFSET ${size}`,
    { timeout_ms: COUNT_TIMEOUT_MS },
  );
  // Jobs that completed before this time were also created before it.
  const oldest = first ? new Date(first.completed_at) : null;
  const progress = { id: 1, completed_at: oldest ?? new Date(0), job_id: "", last_job: "", oldest };
  await db.write((tx) => tx.insert(jobSearchProgress).values(progress).onConflictDoNothing());
  return progress;
}

async function readWords(db: Database, ids: string[]): Promise<JobWords[]> {
  const head = (column: typeof jobs.args | typeof jobs.result) =>
    sql<string>`substr(${column}, 1, ${sql.raw(`${MAX_TEXT_CHARS}`)})`;
  const { id, script_path, created_by, labels } = jobs;
  const rows = await db.read
    .select({ id, script_path, created_by, labels, args: head(jobs.args), result: head(jobs.result) })
    .from(jobs)
    .where(and(inArray(jobs.id, ids), not(jobs.deleted)));
  return rows.map((row) => ({ job_id: row.id, words: listJobWords(row) }));
}

/**
 * Returns by how many rows the limit is exceeded. Counts them only if it may be exceeded by more than a small share.
 */
async function countExcess(app: App, size: number): Promise<number> {
  const counted = sizeOf(app);
  if (counted.most !== undefined && counted.most <= size * (1 + EXCESS_SHARE)) return 0;
  const rows = await countRows(app);
  counted.most = Math.min(rows, size);
  return rows - counted.most;
}

/** Deletes some rows if the limit is exceeded by far: much has completed since the last pass. */
async function trimOldest(app: App, size: number): Promise<void> {
  const counted = sizeOf(app);
  counted.most ??= await countRows(app);
  if (counted.most <= size * (1 + EXCESS_SHARE_OF_PASS)) return;
  const rows = Math.min(counted.most - size, 2 * BATCH_SIZE);
  await deleteOldest(app, rows);
  counted.most -= rows;
}

async function countRows({ db }: App): Promise<number> {
  const [all] = await db.readAside<{ rows: number | string }>(
    sql`SELECT count(*) AS rows FROM ${jobSearch}`,
    { timeout_ms: COUNT_TIMEOUT_MS },
  );
  return Number(all!.rows);
}

/** Deletes the rows of the oldest jobs. */
async function deleteOldest({ db }: App, rows: number): Promise<void> {
  const [end] = await db.read
    .select({ id: jobSearch.id })
    .from(jobSearch)
    .orderBy(asc(jobSearch.id))
    .limit(1)
    .offset(rows - 1);
  if (!end) return;
  const gone = computeLatestCreation(end.id);
  const isNewer = sql`${jobSearchProgress.oldest} IS NULL OR ${jobSearchProgress.oldest} < ${at(gone)}`;
  await db.write(
    async (tx) => {
      await tx.delete(jobSearch).where(lte(jobSearch.id, end.id));
      await tx.update(jobSearchProgress).set({ oldest: gone }).where(isNewer);
    },
    { lazy: true },
  );
}
