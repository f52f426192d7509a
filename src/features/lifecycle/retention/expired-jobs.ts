/** Deletes jobs that completed long ago, with everything that belongs to them, in batches. */
import { and, asc, gt, gte, inArray, lt, lte, ne, or, sql } from "drizzle-orm";
import type { Database } from "../../../database/database.ts";
import type { App } from "../../../platform/app/context.ts";
import {
  type Batches,
  bySize,
  deleteBatch,
  MOST_ROWS,
  sizeOf,
} from "../../../platform/loops/expired-rows.ts";
import { jobLogs, jobStreams, jobs } from "../../../platform/queue/tables.ts";

/**
 * Completed jobs with their logs and streams. What belongs to another job (a step of a flow) is as old as that one:
 * it stays until its root has ended and has had its time too.
 */
export async function* expiredJobs(app: App, before: Date): Batches {
  const { db } = app;
  let after: { at: Date; id: string } | undefined;
  for (;;) {
    const page = await db.read
      .select({
        id: jobs.id,
        at: jobs.completed_at,
        parent: jobs.parent_job,
        root: jobs.root_job,
        size: sizeOf(jobs.args, jobs.result, jobs.raw_code, jobs.raw_lock, jobs.raw_flow),
      })
      .from(jobs)
      .where(
        and(
          // The index serves only a literal condition.
          sql`${jobs.state} = 'completed'`,
          lt(jobs.completed_at, before),
          after && gte(jobs.completed_at, after.at),
          after && or(gt(jobs.completed_at, after.at), gt(jobs.id, after.id)),
        ),
      )
      .orderBy(asc(jobs.completed_at), asc(jobs.id))
      .limit(MOST_ROWS);
    const relatives = page.flatMap(({ parent, root }) => [parent, root]).filter((id) => id !== null);
    const young = await youngOf(db, relatives, before);
    const gone = page.filter(({ parent, root }) => !young.has(parent ?? "") && !young.has(root ?? ""));
    const ids = gone.map(({ id }) => id);
    yield* outputOf(db, jobLogs, ids);
    yield* outputOf(db, jobStreams, ids);
    for (const some of bySize(gone)) {
      const some_ids = some.map(({ id }) => id);
      await deleteBatch(db, async (tx) => {
        for (const { on } of app.features) await on?.jobsDeleted?.(tx, some_ids);
        await tx.delete(jobs).where(inArray(jobs.id, some_ids));
      });
      yield;
    }
    if (page.length < MOST_ROWS) return;
    yield;
    const last = page.at(-1)!;
    after = { at: last.at!, id: last.id };
  }
}

/** Those of the jobs that have not ended, or not long enough ago. */
async function youngOf(db: Database, ids: string[], before: Date): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const isYoung = or(ne(jobs.state, "completed"), gte(jobs.completed_at, before));
  const rows = await db.read
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(inArray(jobs.id, ids), isYoung));
  return new Set(rows.map(({ id }) => id));
}

async function* outputOf(db: Database, table: typeof jobLogs | typeof jobStreams, ids: string[]): Batches {
  while (ids.length > 0) {
    const pieces = await db.read
      .select({ job_id: table.job_id, seq: table.seq, size: sizeOf(table.content) })
      .from(table)
      .where(inArray(table.job_id, ids))
      .orderBy(asc(table.job_id), asc(table.seq))
      .limit(MOST_ROWS);
    for (const some of bySize(pieces)) {
      const last = some.at(-1)!;
      const which = and(
        inArray(table.job_id, [...new Set(some.map(({ job_id }) => job_id))]),
        // Of the last job there may be more.
        or(ne(table.job_id, last.job_id), lte(table.seq, last.seq)),
      );
      await deleteBatch(db, (tx) => tx.delete(table).where(which));
      yield;
    }
    if (pieces.length < MOST_ROWS) return;
  }
}
