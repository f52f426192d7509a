/** Scans the whole queue in slices, so that no statement reads more than a few thousand index entries. */
import { and, asc, eq, type SQL, sql } from "drizzle-orm";
import { preventIndexUse } from "../../database/conditions.ts";
import type { Reader } from "../../database/database.ts";
import { yieldToEventLoop } from "../../lib/async/time-slices.ts";
import { listPriorities } from "./claim.ts";
import { jobs } from "./tables.ts";

/** Index entries per slice. */
const SLICE_ROWS = 2_000;

/** Literal, to match the condition of the partial index. */
export const queuedCondition = sql`${jobs.state} = 'queued'`;

/**
 * Condition: the job is unfinished and satisfies another condition. The indexes on unfinished jobs are used, however
 * long the workspace's history is.
 */
export function createUnfinishedCondition(condition: SQL | undefined): SQL {
  const ids = ["running", "queued", "held"].map(
    (state) =>
      sql`SELECT ${jobs.id} FROM ${jobs} WHERE ${jobs.state} = ${sql.raw(`'${state}'`)} AND ${preventIndexUse(condition ?? sql`1 = 1`)}`,
  );
  return sql`${jobs.id} IN (${sql.join(ids, sql` UNION ALL `)})`;
}

/** Returns whether more jobs than this are queued. */
export async function isQueueLongerThan(db: Reader, count: number): Promise<boolean> {
  const beyond = await db.select({ id: jobs.id }).from(jobs).where(queuedCondition).limit(1).offset(count);
  return beyond.length > 0;
}

interface QueuePosition {
  scheduled_for: Date;
  id: string;
}

/**
 * Yields conditions that select consecutive slices of the queue; together they cover all entries present from start to
 * end.
 * @param inTransaction does not yield to the event loop in between: a transaction must not
 */
export async function* sliceQueue(db: Reader, { inTransaction = false } = {}): AsyncGenerator<SQL> {
  for await (const priority of listPriorities(db)) {
    const ofPriority = and(queuedCondition, eq(jobs.priority, priority));
    for (let last: QueuePosition | undefined; ; ) {
      const after = last && comparePosition(">", last);
      const [end]: (QueuePosition | undefined)[] = await db
        .select({ scheduled_for: jobs.scheduled_for, id: jobs.id })
        .from(jobs)
        .where(and(ofPriority, after))
        .orderBy(asc(jobs.scheduled_for), asc(jobs.id))
        .limit(1)
        .offset(SLICE_ROWS - 1);
      yield and(ofPriority, after, end && comparePosition("<=", end))!;
      if (!end) break;
      last = end;
      if (!inTransaction) await yieldToEventLoop();
    }
  }
}

function comparePosition(how: ">" | "<=", { scheduled_for, id }: QueuePosition): SQL {
  const moment = sql.param(scheduled_for, jobs.scheduled_for);
  return sql`(${jobs.scheduled_for}, ${jobs.id}) ${sql.raw(how)} (${moment}, ${id})`;
}
