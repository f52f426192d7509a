/**
 * Claims queued jobs, highest priority first.
 *
 * Both databases walk the index `jobs_queued` (priority, due time) one priority at a time. Due jobs come first within a
 * priority, so jobs in the far future or a long queue do not slow a claim down.
 */
import { and, asc, Column, desc, eq, getTableColumns, inArray, lt, lte, type SQL, sql } from "drizzle-orm";
import { prepareStatement, type Reader, type Tx } from "../../database/database.ts";
import { dialect } from "../../database/kit.ts";
import { enforceConcurrencyLimits, skipLocked } from "./concurrency.ts";
import { type Job, jobs } from "./tables.ts";

const placeholder = sql.placeholder;

/** The partial index matches only a literal condition, so the state is not a parameter. */
const isQueuedRow = sql`${jobs.state} = 'queued'`;
const claimOrder = [jobs.scheduled_for, jobs.id] as const;

/** Matches jobs whose tag is in a JSON array of tags; null matches all. */
const hasWantedTag =
  dialect === "postgres"
    ? sql`(${placeholder("tags")}::text IS NULL OR ${jobs.tag} IN (SELECT json_array_elements_text(${placeholder("tags")}::text::json)))`
    : sql`(${placeholder("tags")} IS NULL OR ${jobs.tag} IN (SELECT value FROM json_each(${placeholder("tags")})))`;

const toJson = (tags: string[] | undefined) => (tags ? JSON.stringify(tags) : null);

/**
 * Excludes jobs of archived workspaces. SQLite has a single process, which checks when a job starts. On PostgreSQL
 * another server may have archived the workspace just now.
 */
const ofOpenWorkspace =
  dialect === "postgres"
    ? sql`NOT EXISTS (SELECT 1 FROM workspaces WHERE workspaces.id = ${jobs.workspace_id} AND workspaces.archived)`
    : undefined;

export interface ClaimOptions {
  worker: string;
  limit: number;
  now: Date;
  /** Claims only jobs with one of these tags; undefined: any. */
  tags: string[] | undefined;
}

type Priority = { priority: number | string };

const highestPriority = prepareStatement<Record<never, never>, Priority[]>((q) =>
  q.select({ priority: jobs.priority }).from(jobs).where(isQueuedRow).orderBy(desc(jobs.priority)).limit(1),
);

const nextPriority = prepareStatement<{ below: number }, Priority[]>((q) =>
  q
    .select({ priority: jobs.priority })
    .from(jobs)
    .where(and(isQueuedRow, lt(jobs.priority, placeholder("below"))))
    .orderBy(desc(jobs.priority))
    .limit(1),
);

/** Lists the priorities of queued jobs, highest first. */
export async function* listPriorities(db: Reader): AsyncGenerator<number> {
  let [row] = await db.exec(highestPriority, {});
  while (row) {
    const priority = Number(row.priority);
    yield priority;
    [row] = await db.exec(nextPriority, { below: priority });
  }
}

const selectEarliest = prepareStatement<
  { priority: number; tags: string | null },
  { scheduled_for: unknown }[]
>((q) =>
  q
    .select({ scheduled_for: jobs.scheduled_for })
    .from(jobs)
    .where(and(isQueuedRow, eq(jobs.priority, placeholder("priority")), hasWantedTag))
    .orderBy(asc(jobs.scheduled_for))
    .limit(1),
);

/** Returns the due time of the earliest queued job, possibly in the past; undefined if none is queued. */
export async function findNextDueTime(db: Reader, tags: string[] | undefined): Promise<Date | undefined> {
  let earliest: Date | undefined;
  for await (const priority of listPriorities(db)) {
    const [row] = await db.exec(selectEarliest, { priority, tags: toJson(tags) });
    if (!row) continue;
    const due = jobs.scheduled_for.mapFromDriverValue(row.scheduled_for as never) as Date;
    if (!earliest || due < earliest) earliest = due;
  }
  return earliest;
}

/**
 * Claims up to `limit` due jobs for `worker`, highest priority first, and marks them `running`. On PostgreSQL it uses
 * `FOR UPDATE SKIP LOCKED`, so workers never block each other. On SQLite a claim ends when it reaches
 * `MAX_CLAIM_BYTES`, so that no job overtakes one of a higher priority that did not fit.
 */
export async function claimJobs(tx: Tx, { worker, limit, now, tags }: ClaimOptions): Promise<Job[]> {
  const taken: Job[] = [];
  let room = dialect === "postgres" ? Number.POSITIVE_INFINITY : MAX_CLAIM_BYTES;
  for await (const priority of listPriorities(tx)) {
    const left = limit - taken.length;
    const rows = await tx.exec(claimDue, { worker, now, priority, limit: left, room, tags: toJson(tags) });
    for (const row of rows) row.args ??= await readArguments(tx, row.id as string);
    const found = rows.map(toJob).sort(compareDueTime);
    for (const { args } of found) room -= Buffer.byteLength(args);
    taken.push(...found);
    if (taken.length >= limit || room <= 0) break;
  }
  return enforceConcurrencyLimits(tx, taken, now);
}

async function readArguments(tx: Tx, id: string): Promise<string> {
  const [row] = await tx.exec(selectArguments, { id });
  return row!.args;
}

function compareDueTime(a: Job, b: Job): number {
  return a.scheduled_for.getTime() - b.scheduled_for.getTime() || (a.id < b.id ? -1 : 1);
}

/**
 * Maximum bytes of arguments in the jobs of one claim, which reads and writes them whole; the first job may exceed
 * it. On PostgreSQL the event loop is not blocked meanwhile, so there the worker adapts its limit to the size of the
 * previous claim.
 */
export const MAX_CLAIM_BYTES = 16_000_000;

/** Fields of a due job that the byte limit needs; the length is read without the text itself. */
const weighed = {
  id: jobs.id,
  scheduled_for: jobs.scheduled_for,
  bytes: sql`octet_length(${jobs.args})`.as("bytes"),
};

/** Returns the ids of the first due jobs that fit into `room` bytes; the last one may exceed it. */
function firstBytes(due: unknown): SQL {
  const before = sql`sum(bytes) OVER (ORDER BY scheduled_for, id) - bytes`;
  return sql`SELECT id FROM (SELECT id, ${before} AS bytes_before FROM (${due})) WHERE bytes_before < ${placeholder("room")}`;
}

const returned = getTableColumns(jobs);

/** On SQLite `RETURNING` copies a long text several times; an update followed by a read costs half as much. */
const shortArguments = sql`CASE WHEN octet_length(${jobs.args}) < 65536 THEN ${jobs.args} END`.as("args");

const selectArguments = prepareStatement<{ id: string }, { args: string }[]>((q) =>
  q
    .select({ args: jobs.args })
    .from(jobs)
    .where(eq(jobs.id, placeholder("id"))),
);

const claimDue = prepareStatement<
  { worker: string; now: Date; priority: number; limit: number; room: number; tags: string | null },
  Record<string, unknown>[]
>((q) => {
  const earliest = skipLocked(
    q
      .select(dialect === "postgres" ? { id: jobs.id } : weighed)
      .from(jobs)
      .where(
        and(
          isQueuedRow,
          eq(jobs.priority, placeholder("priority")),
          lte(jobs.scheduled_for, placeholder("now")),
          hasWantedTag,
          ofOpenWorkspace,
        ),
      )
      .orderBy(...claimOrder)
      .limit(placeholder("limit")),
  );
  const due = dialect === "postgres" ? earliest : sql`(${firstBytes(earliest)})`;
  return (
    q
      .update(jobs)
      .set({
        state: "running",
        worker: placeholder("worker") as never,
        started_at: placeholder("now") as never,
        last_ping: placeholder("now") as never,
      })
      // As an array the subquery runs once; if it ran again, it would skip the rows it has locked itself.
      .where(dialect === "postgres" ? sql`${jobs.id} = ANY(ARRAY(${due}))` : inArray(jobs.id, due))
      .returning(dialect === "postgres" ? returned : { ...returned, args: shortArguments })
  );
});

/** Columns whose driver value differs from the value in code. */
const decodedColumns = Object.entries(getTableColumns(jobs)).filter(
  ([, column]) => column.mapFromDriverValue !== Column.prototype.mapFromDriverValue,
);

/** Decodes a raw row; much cheaper than the query builder's mapping of all columns. */
function toJob(row: Record<string, unknown>): Job {
  for (const [name, column] of decodedColumns) {
    const value = row[name];
    if (value !== null) row[name] = column.mapFromDriverValue(value);
  }
  return row as Job;
}
