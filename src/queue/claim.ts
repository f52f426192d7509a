/**
 * Claiming queued jobs, most urgent first.
 *
 * Both databases walk the index `jobs_queued` (priority, then due time) one priority after the other: within one, what
 * is due comes first, so neither jobs of a far future nor a long queue make a claim slower.
 */
import { and, asc, desc, eq, getTableColumns, inArray, lt, lte, sql } from "drizzle-orm";
import { type Reader, statement, type Tx } from "../database/database.ts";
import type { Dialect } from "../database/kit.ts";
import { giveWay, passingLocked } from "./concurrency.ts";
import type { QueueDriver } from "./driver.ts";
import { type Job, jobs } from "./tables.ts";

const p = sql.placeholder;

/** The index serves only a literal condition, so the state is no parameter. */
const queued = sql`${jobs.state} = 'queued'`;
const order = [jobs.scheduled_for, jobs.id] as const;

interface Claim {
  worker: string;
  limit: number;
  now: Date;
  tags: string[] | undefined;
}

/** The highest priority below another that a queued job has. */
async function nextPriority(db: Reader, below: number | undefined): Promise<number | undefined> {
  const [row] = await db
    .select({ priority: jobs.priority })
    .from(jobs)
    .where(and(queued, below === undefined ? undefined : lt(jobs.priority, below)))
    .orderBy(desc(jobs.priority))
    .limit(1);
  return row?.priority;
}

async function* priorities(db: Reader): AsyncGenerator<number> {
  for (let at = await nextPriority(db, undefined); at !== undefined; at = await nextPriority(db, at))
    yield at;
}

/** When the next queued job is due, or was; undefined when none is queued. */
export async function nextDue(db: Reader, tags: string[] | undefined): Promise<Date | undefined> {
  let earliest: Date | undefined;
  for await (const priority of priorities(db)) {
    const [row] = await db
      .select({ scheduled_for: jobs.scheduled_for })
      .from(jobs)
      .where(and(queued, eq(jobs.priority, priority), tags ? inArray(jobs.tag, tags) : undefined))
      .orderBy(asc(jobs.scheduled_for))
      .limit(1);
    if (row && (!earliest || row.scheduled_for < earliest)) earliest = row.scheduled_for;
  }
  return earliest;
}

async function claimByPriority(
  tx: Tx,
  claim: Claim,
  claimOf: (priority: number, limit: number) => Promise<Job[]>,
): Promise<Job[]> {
  const taken: Job[] = [];
  for await (const priority of priorities(tx)) {
    const some = await claimOf(priority, claim.limit - taken.length);
    taken.push(...some.sort(byTime));
    if (taken.length >= claim.limit) break;
  }
  return giveWay(tx, taken, claim.now);
}

function byTime(a: Job, b: Job): number {
  return a.scheduled_for.getTime() - b.scheduled_for.getTime() || (a.id < b.id ? -1 : 1);
}

const claimDue = statement<
  { worker: string; now: Date; priority: number; limit: number; tags: string | null },
  Record<string, unknown>[]
>((q) => {
  const wanted = sql`(${p("tags")} IS NULL OR ${jobs.tag} IN (SELECT value FROM json_each(${p("tags")})))`;
  const due = q
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(queued, eq(jobs.priority, p("priority")), lte(jobs.scheduled_for, p("now")), wanted))
    .orderBy(...order)
    .limit(p("limit"));
  return q
    .update(jobs)
    .set({
      state: "running",
      worker: p("worker") as never,
      started_at: p("now") as never,
      last_ping: p("now") as never,
    })
    .where(inArray(jobs.id, due))
    .returning();
});

const columns = Object.entries(getTableColumns(jobs));

/** A row as SQLite gives it, which is cheaper by far than the builder's own mapping of so many columns. */
function toJob(row: Record<string, unknown>): Job {
  const job: Record<string, unknown> = {};
  for (const [name, column] of columns) {
    const value = row[name];
    job[name] = value === null ? null : column.mapFromDriverValue(value);
  }
  return job as Job;
}

/** SQLite has one writer, so nobody else can take what the subquery saw. */
const sqlite: QueueDriver = {
  claim: (tx, claim) =>
    claimByPriority(tx, claim, async (priority, limit) => {
      const { worker, now } = claim;
      const tags = claim.tags ? JSON.stringify(claim.tags) : null;
      return (await tx.exec(claimDue, { worker, now, priority, limit, tags })).map(toJob);
    }),
};

/** PostgreSQL: rows that another worker is taking are passed over, not waited for. */
const postgres: QueueDriver = {
  claim: (tx, claim) =>
    claimByPriority(tx, claim, async (priority, limit) => {
      const { worker, now, tags } = claim;
      const due = tx
        .select({ id: jobs.id })
        .from(jobs)
        .where(
          and(
            queued,
            eq(jobs.priority, priority),
            lte(jobs.scheduled_for, now),
            tags ? inArray(jobs.tag, tags) : undefined,
          ),
        )
        .orderBy(...order)
        .limit(limit);
      const locked = await passingLocked(due);
      if (locked.length === 0) return [];
      const ids = locked.map((row) => row.id);
      return tx
        .update(jobs)
        .set({ state: "running", worker, started_at: now, last_ping: now })
        .where(inArray(jobs.id, ids))
        .returning();
    }),
};

export function queueDriver(dialect: Dialect): QueueDriver {
  return dialect === "postgres" ? postgres : sqlite;
}
