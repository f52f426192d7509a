/** Claiming a queued job: the one statement that the databases say differently. */
import { and, getTableColumns, inArray, lte, sql } from "drizzle-orm";
import { statement } from "../database/database.ts";
import type { Dialect } from "../database/kit.ts";
import type { QueueDriver } from "./driver.ts";
import { type Job, jobs } from "./tables.ts";

const p = sql.placeholder;

/** The partial index `jobs_queued` serves only a literal condition, so the state is no parameter. */
const queued = sql`${jobs.state} = 'queued'`;
const order = [sql`${jobs.priority} DESC`, jobs.scheduled_for, jobs.id] as const;

function byUrgency(a: Job, b: Job): number {
  return (
    b.priority - a.priority || a.scheduled_for.getTime() - b.scheduled_for.getTime() || (a.id < b.id ? -1 : 1)
  );
}

const claimDue = statement<
  { worker: string; now: Date; limit: number; tags: string | null },
  Record<string, unknown>[]
>((q) => {
  const wanted = sql`(${p("tags")} IS NULL OR ${jobs.tag} IN (SELECT value FROM json_each(${p("tags")})))`;
  const due = q
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(queued, lte(jobs.scheduled_for, p("now")), wanted))
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
  async claim(tx, { worker, limit, now, tags }) {
    const taken = await tx.exec(claimDue, {
      worker,
      limit,
      now,
      tags: tags ? JSON.stringify(tags) : null,
    });
    return taken.map(toJob).sort(byUrgency);
  },
};

/** PostgreSQL: rows that another worker is taking are passed over, not waited for. */
const postgres: QueueDriver = {
  async claim(tx, { worker, limit, now, tags }) {
    const due = tx
      .select({ id: jobs.id })
      .from(jobs)
      .where(and(queued, lte(jobs.scheduled_for, now), tags ? inArray(jobs.tag, tags) : undefined))
      .orderBy(...order)
      .limit(limit) as unknown as { for(strength: "update", config: { skipLocked: true }): never };
    const locked = await (due.for("update", { skipLocked: true }) as Promise<{ id: string }[]>);
    if (locked.length === 0) return [];
    const taken = await tx
      .update(jobs)
      .set({ state: "running", worker, started_at: now, last_ping: now })
      .where(
        inArray(
          jobs.id,
          locked.map((row) => row.id),
        ),
      )
      .returning();
    return taken.sort(byUrgency);
  },
};

export function queueDriver(dialect: Dialect): QueueDriver {
  return dialect === "postgres" ? postgres : sqlite;
}
