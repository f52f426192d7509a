/**
 * Claiming queued jobs, most urgent first.
 *
 * Both databases walk the index `jobs_queued` (priority, then due time) one priority after the other: within one, what
 * is due comes first, so neither jobs of a far future nor a long queue make a claim slower.
 */
import { and, asc, Column, desc, eq, getTableColumns, inArray, lt, lte, sql } from "drizzle-orm";
import { type Reader, statement, type Tx } from "../../database/database.ts";
import { dialect } from "../../database/kit.ts";
import { giveWay, passingLocked } from "./concurrency.ts";
import { type Job, jobs } from "./tables.ts";

const p = sql.placeholder;

/** The index serves only a literal condition, so the state is no parameter. */
const queued = sql`${jobs.state} = 'queued'`;
const order = [jobs.scheduled_for, jobs.id] as const;

/** Jobs with one of some tags, which are a JSON array; null means all jobs. */
const wanted =
  dialect === "postgres"
    ? sql`(${p("tags")}::text IS NULL OR ${jobs.tag} IN (SELECT json_array_elements_text(${p("tags")}::text::json)))`
    : sql`(${p("tags")} IS NULL OR ${jobs.tag} IN (SELECT value FROM json_each(${p("tags")})))`;

const toJson = (tags: string[] | undefined) => (tags ? JSON.stringify(tags) : null);

/**
 * Of a workspace that is archived nothing begins. On SQLite the one process that there is knows which these are, and looks
 * when a job is about to begin; here another server may have archived it since this one heard of anything.
 */
const ofOpenWorkspace =
  dialect === "postgres"
    ? sql`NOT EXISTS (SELECT 1 FROM workspaces WHERE workspaces.id = ${jobs.workspace_id} AND workspaces.archived)`
    : undefined;

export interface Claim {
  worker: string;
  limit: number;
  now: Date;
  /** Only jobs with one of these tags; undefined takes any. */
  tags: string[] | undefined;
}

type Priority = { priority: number | string };

const highestPriority = statement<Record<never, never>, Priority[]>((q) =>
  q.select({ priority: jobs.priority }).from(jobs).where(queued).orderBy(desc(jobs.priority)).limit(1),
);

const nextPriority = statement<{ below: number }, Priority[]>((q) =>
  q
    .select({ priority: jobs.priority })
    .from(jobs)
    .where(and(queued, lt(jobs.priority, p("below"))))
    .orderBy(desc(jobs.priority))
    .limit(1),
);

/** The priorities that queued jobs have, the highest first. */
export async function* priorities(db: Reader): AsyncGenerator<number> {
  let [row] = await db.exec(highestPriority, {});
  while (row) {
    const priority = Number(row.priority);
    yield priority;
    [row] = await db.exec(nextPriority, { below: priority });
  }
}

const earliestOf = statement<{ priority: number; tags: string | null }, { scheduled_for: unknown }[]>((q) =>
  q
    .select({ scheduled_for: jobs.scheduled_for })
    .from(jobs)
    .where(and(queued, eq(jobs.priority, p("priority")), wanted))
    .orderBy(asc(jobs.scheduled_for))
    .limit(1),
);

/** When the next queued job is due, or was; undefined when none is queued. */
export async function nextDue(db: Reader, tags: string[] | undefined): Promise<Date | undefined> {
  let earliest: Date | undefined;
  for await (const priority of priorities(db)) {
    const [row] = await db.exec(earliestOf, { priority, tags: toJson(tags) });
    if (!row) continue;
    const due = jobs.scheduled_for.mapFromDriverValue(row.scheduled_for as never) as Date;
    if (!earliest || due < earliest) earliest = due;
  }
  return earliest;
}

/**
 * Takes due jobs for this worker, most urgent first: they are `running` once the transaction is committed. On PostgreSQL
 * rows that another worker is taking are passed over, not waited for.
 */
export async function claimJobs(tx: Tx, { worker, limit, now, tags }: Claim): Promise<Job[]> {
  const taken: Job[] = [];
  for await (const priority of priorities(tx)) {
    const left = limit - taken.length;
    const rows = await tx.exec(claimDue, { worker, now, priority, limit: left, tags: toJson(tags) });
    taken.push(...rows.map(toJob).sort(byTime));
    if (taken.length >= limit) break;
  }
  return giveWay(tx, taken, now);
}

function byTime(a: Job, b: Job): number {
  return a.scheduled_for.getTime() - b.scheduled_for.getTime() || (a.id < b.id ? -1 : 1);
}

const claimDue = statement<
  { worker: string; now: Date; priority: number; limit: number; tags: string | null },
  Record<string, unknown>[]
>((q) => {
  const due = passingLocked(
    q
      .select({ id: jobs.id })
      .from(jobs)
      .where(
        and(
          queued,
          eq(jobs.priority, p("priority")),
          lte(jobs.scheduled_for, p("now")),
          wanted,
          ofOpenWorkspace,
        ),
      )
      .orderBy(...order)
      .limit(p("limit")),
  );
  return (
    q
      .update(jobs)
      .set({
        state: "running",
        worker: p("worker") as never,
        started_at: p("now") as never,
        last_ping: p("now") as never,
      })
      // As an array it is asked for once; what is asked for again would pass over what it has locked itself.
      .where(dialect === "postgres" ? sql`${jobs.id} = ANY(ARRAY(${due}))` : inArray(jobs.id, due))
      .returning()
  );
});

/** Those whose values come in another form than they are used in. */
const coded = Object.entries(getTableColumns(jobs)).filter(
  ([, column]) => column.mapFromDriverValue !== Column.prototype.mapFromDriverValue,
);

/** A row as the database gives it, which is cheaper by far than the builder's own mapping of so many columns. */
function toJob(row: Record<string, unknown>): Job {
  for (const [name, column] of coded) {
    const value = row[name];
    if (value !== null) row[name] = column.mapFromDriverValue(value);
  }
  return row as Job;
}
