/** Walking the queue from its front to its end, however long it is: no statement looks at more than a few thousand entries. */
import { and, asc, eq, type SQL, sql } from "drizzle-orm";
import type { Reader } from "../../database/database.ts";
import { pause } from "../../lib/async/pause.ts";
import { priorities } from "./claim.ts";
import { jobs } from "./tables.ts";

/** Entries of the index that one slice has. */
const SLICE = 2_000;

/** Written out, as the condition of the index is. */
export const isQueued = sql`${jobs.state} = 'queued'`;

interface Place {
  scheduled_for: Date;
  id: string;
}

/** Conditions, each on consecutive entries of the queue; together all that were there at the beginning and still are. */
export async function* queuedSlices(db: Reader): AsyncGenerator<SQL> {
  for await (const priority of priorities(db)) {
    const ofPriority = and(isQueued, eq(jobs.priority, priority));
    for (let last: Place | undefined; ; ) {
      const after = last && compared(">", last);
      const [end]: (Place | undefined)[] = await db
        .select({ scheduled_for: jobs.scheduled_for, id: jobs.id })
        .from(jobs)
        .where(and(ofPriority, after))
        .orderBy(asc(jobs.scheduled_for), asc(jobs.id))
        .limit(1)
        .offset(SLICE - 1);
      yield and(ofPriority, after, end && compared("<=", end))!;
      if (!end) break;
      last = end;
      await pause();
    }
  }
}

function compared(how: ">" | "<=", { scheduled_for, id }: Place): SQL {
  const moment = sql.param(scheduled_for, jobs.scheduled_for);
  return sql`(${jobs.scheduled_for}, ${jobs.id}) ${sql.raw(how)} (${moment}, ${id})`;
}
