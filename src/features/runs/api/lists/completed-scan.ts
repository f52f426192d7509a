/**
 * Scans the jobs that completed after a time, in slices of the index on completion times, however long the history
 * before it is.
 */
import { and, asc, gt, lte, type SQL, sql } from "drizzle-orm";
import { yieldToEventLoop } from "../../../../lib/async/yield.ts";
import type { App } from "../../../../platform/app/context.ts";
import { jobs } from "../../../../platform/queue/tables.ts";

/** Rows read by one statement: some milliseconds. Jobs of one completion time are in one slice. */
const SLICE_ROWS = 5_000;

/** Literal, so that the planner can use the index, which has completed jobs only. */
const COMPLETED = sql`${jobs.state} = 'completed'`;

/**
 * Yields conditions that together cover the jobs completed after `from`, each cheap enough for one statement.
 * @param filters conditions that no index has to serve
 * @param signal aborted if the caller is gone: the scan ends early
 */
export async function* scanCompletedSince(
  app: App,
  from: Date,
  filters: SQL | undefined,
  signal: AbortSignal,
): AsyncGenerator<SQL | undefined> {
  for (let after = from; !signal.aborted; ) {
    const later = and(COMPLETED, gt(jobs.completed_at, after));
    const [last] = await app.db.read
      .select({ completed_at: jobs.completed_at })
      .from(jobs)
      .where(later)
      .orderBy(asc(jobs.completed_at))
      .limit(1)
      .offset(SLICE_ROWS - 1);
    const end = last?.completed_at ?? undefined;
    yield and(later, end && lte(jobs.completed_at, end), filters);
    if (!end) return;
    after = end;
    await yieldToEventLoop();
  }
}
