/** Deletes jobs that completed before the retention period, with all their data, in batches. */
import { and, asc, gt, gte, inArray, lt, lte, ne, or, sql } from "drizzle-orm";
import type { Database } from "../../../database/database.ts";
import { isOutside } from "../../../database/months/month.ts";
import type { App } from "../../../platform/app/context.ts";
import {
  type Batches,
  deleteBatch,
  MAX_ROWS,
  measureTextBytes,
  splitBySize,
} from "../../../platform/loops/expired-rows.ts";
import { jobLogs, jobStreams, jobs } from "../../../platform/queue/tables.ts";
import { dropExpiredMonths } from "./expired-months.ts";
import { listJobColumns } from "./job-tables.ts";

/**
 * Deletes completed jobs with their logs and streams. A step of a flow stays until its root job has expired too. Of
 * jobs in monthly partitions, those are left to `dropExpiredMonths` whose month can still be dropped at once.
 */
export async function* deleteExpiredJobs(app: App, before: Date): Batches {
  const { db } = app;
  const columns = listJobColumns(app.features);
  const kept = yield* dropExpiredMonths(app, before);
  let after: { at: Date; id: string } | undefined;
  for (;;) {
    const page = await db.read
      .select({
        id: jobs.id,
        at: jobs.completed_at,
        parent: jobs.parent_job,
        root: jobs.root_job,
        size: measureTextBytes(
          jobs.args,
          jobs.result,
          jobs.raw_code,
          jobs.raw_lock,
          jobs.raw_modules,
          jobs.raw_flow,
        ),
      })
      .from(jobs)
      .where(
        and(
          // The partial index is used only for a literal condition.
          sql`${jobs.state} = 'completed'`,
          lt(jobs.completed_at, before),
          kept.length > 0 ? isOutside(jobs.id, kept) : undefined,
          after && gte(jobs.completed_at, after.at),
          after && or(gt(jobs.completed_at, after.at), gt(jobs.id, after.id)),
        ),
      )
      .orderBy(asc(jobs.completed_at), asc(jobs.id))
      .limit(MAX_ROWS);
    const relatives = page.flatMap(({ parent, root }) => [parent, root]).filter((id) => id !== null);
    const young = await findUnexpired(db, relatives, before);
    const gone = page.filter(({ parent, root }) => !young.has(parent ?? "") && !young.has(root ?? ""));
    const ids = gone.map(({ id }) => id);
    yield* deleteExpiredOutput(db, jobLogs, ids);
    yield* deleteExpiredOutput(db, jobStreams, ids);
    for (const some of splitBySize(gone)) {
      const some_ids = some.map(({ id }) => id);
      await deleteBatch(db, async (tx) => {
        for (const column of columns) await tx.delete(column.table).where(inArray(column, some_ids));
      });
      yield;
    }
    if (page.length < MAX_ROWS) return;
    yield;
    const last = page.at(-1)!;
    after = { at: last.at!, id: last.id };
  }
}

/** Returns those of the jobs that are unfinished or not yet expired. */
async function findUnexpired(db: Database, ids: string[], before: Date): Promise<Set<string>> {
  if (ids.length === 0) return new Set();
  const isYoung = or(ne(jobs.state, "completed"), gte(jobs.completed_at, before));
  const rows = await db.read
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(inArray(jobs.id, ids), isYoung));
  return new Set(rows.map(({ id }) => id));
}

async function* deleteExpiredOutput(
  db: Database,
  table: typeof jobLogs | typeof jobStreams,
  ids: string[],
): Batches {
  while (ids.length > 0) {
    const pieces = await db.read
      .select({ job_id: table.job_id, seq: table.seq, size: measureTextBytes(table.content) })
      .from(table)
      .where(inArray(table.job_id, ids))
      .orderBy(asc(table.job_id), asc(table.seq))
      .limit(MAX_ROWS);
    for (const some of splitBySize(pieces)) {
      const last = some.at(-1)!;
      const which = and(
        inArray(table.job_id, [...new Set(some.map(({ job_id }) => job_id))]),
        // The last job may have more rows.
        or(ne(table.job_id, last.job_id), lte(table.seq, last.seq)),
      );
      await deleteBatch(db, (tx) => tx.delete(table).where(which));
      yield;
    }
    if (pieces.length < MAX_ROWS) return;
  }
}
