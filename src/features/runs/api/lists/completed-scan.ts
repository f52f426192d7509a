/**
 * Scans the jobs that completed after a given time. It uses the index on completion times, whose cost does not depend
 * on older history, or the index of the workspace if that has fewer jobs.
 */
import { and, asc, gt, type SQL, sql } from "drizzle-orm";
import { preventIndexUse } from "../../../../database/conditions.ts";
import { dialect } from "../../../../database/kit.ts";
import { yieldToEventLoop } from "../../../../lib/async/time-slices.ts";
import type { App } from "../../../../platform/app/context.ts";
import { jobs } from "../../../../platform/queue/tables.ts";
import {
  countSlice,
  createScanTurn,
  findNthPosition,
  type JobQuery,
  type ScanPosition,
  SKIP_ENTRIES,
  SLICE_ROWS,
  scanInSlices,
} from "./job-scan.ts";

/** A query that selects jobs by their completion times, so it has none of the fields that select them otherwise. */
export interface CompletedQuery extends Required<Pick<JobQuery, "base" | "filters">> {
  from: Date;
  /** Aborted if the caller disconnects: the scan then ends early. */
  signal: AbortSignal;
}

/** Position in the index on completion times. `tie` orders jobs that completed at the same time. */
interface CompletedPosition {
  completed_at: Date;
  tie: string | number;
}

/** Tie-breaker of the sort order: every SQLite index ends with the row id. */
const TIE = dialect === "sqlite" ? sql<number>`${jobs}.rowid` : sql<string>`${jobs.id}`;

/**
 * SQL condition: the job completed after a time. The state is a literal, so that the planner can use the partial index
 * of completed jobs.
 */
const completedSince = (from: Date) => and(sql`${jobs.state} = 'completed'`, gt(jobs.completed_at, from))!;

export async function countCompletedSince(app: App, query: CompletedQuery): Promise<number> {
  let total = 0;
  for await (const slice of scanCompletedSince(app, query)) total += await countSlice(app, slice);
  return total;
}

/** Yields conditions that together cover the query, each cheap enough for one statement. */
export async function* scanCompletedSince(app: App, query: CompletedQuery): AsyncGenerator<SQL | undefined> {
  const { from, base, filters, signal } = query;
  if (base && !(await areFewerSince(app, from, base))) {
    const completed = and(preventIndexUse(completedSince(from)), filters);
    yield* scanInSlices(app, { base, filters: completed, sets: [], signal });
    return;
  }
  const rest = and(base && preventIndexUse(base), filters);
  const scan = createScanTurn(app, { signal });
  try {
    for (let last: CompletedPosition | undefined; ; ) {
      const end = await findNthCompleted(app, from, last, SLICE_ROWS);
      const bounds = and(last && comparePosition(">", last), end && comparePosition("<=", end));
      yield and(completedSince(from), bounds, rest);
      if (end === undefined || signal.aborted) return;
      last = end;
      await yieldToEventLoop();
      await scan.awaitTurn();
    }
  } finally {
    scan.release();
  }
}

/** Whether fewer jobs completed since a time than there are jobs with `base`, which has an index. */
async function areFewerSince(app: App, from: Date, base: SQL): Promise<boolean> {
  const own = { base, filters: undefined, sets: [] };
  let completed: CompletedPosition | undefined;
  for (let last: ScanPosition | undefined; ; ) {
    completed = await findNthCompleted(app, from, completed, SKIP_ENTRIES);
    if (!completed) return true;
    last = await findNthPosition(app, own, last, SKIP_ENTRIES);
    if (!last) return false;
    await yieldToEventLoop();
  }
}

/** Finds the position `n` jobs further; undefined if there are fewer. */
async function findNthCompleted(
  app: App,
  from: Date,
  last: CompletedPosition | undefined,
  n: number,
): Promise<CompletedPosition | undefined> {
  const [found] = await app.db.read
    .select({ completed_at: jobs.completed_at, tie: TIE })
    .from(jobs)
    .where(and(completedSince(from), last && comparePosition(">", last)))
    .orderBy(asc(jobs.completed_at), asc(TIE))
    .limit(1)
    .offset(n - 1);
  return found as CompletedPosition | undefined;
}

function comparePosition(how: ">" | "<=", { completed_at, tie }: CompletedPosition): SQL {
  const moment = sql.param(completed_at, jobs.completed_at);
  return sql`(${jobs.completed_at}, ${TIE}) ${sql.raw(how)} (${moment}, ${tie})`;
}
