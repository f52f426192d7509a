/**
 * Deleting what is too old, piece by piece: each of these yields after every transaction and every look. What goes is looked for
 * outside of it, so that the one writer of SQLite is held for the deletion alone.
 */
import { and, asc, eq, gt, gte, inArray, lt, lte, ne, or, type SQL, sql } from "drizzle-orm";
import type { AnySQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Database, Tx } from "../../../database/database.ts";
import { jobLogs, jobStreams, jobs } from "../../../platform/queue/tables.ts";
import { forgetRuns } from "../../runs/flows/plan/forget.ts";
import type { auditLog } from "../../signals/audit/tables.ts";
import { webhookDeliveries, webhookEndpoints, webhookEvents } from "../../signals/webhooks/tables.ts";

/** Most rows of one transaction, and most bytes of text in them: freeing these takes some milliseconds. */
const ROWS = 250;
const BYTES = 1_000_000;

type Moment = AnySQLiteColumn<{ data: Date }>;
type Pieces = AsyncGenerator<void>;

const sizeOf = (...texts: AnySQLiteColumn[]): SQL<number> =>
  sql<number>`${sql.join(
    texts.map((text) => sql`coalesce(octet_length(${text}), 0)`),
    sql` + `,
  )}`;

/** Consecutive items whose sizes add up to no more than one transaction frees; at least one each. */
function* bySize<T extends { size: number }>(items: readonly T[]): Generator<T[]> {
  let some: T[] = [];
  let bytes = 0;
  for (const item of items) {
    if (some.length > 0 && bytes + item.size > BYTES) {
      yield some;
      some = [];
      bytes = 0;
    }
    some.push(item);
    bytes += item.size;
  }
  if (some.length > 0) yield some;
}

/** Of several servers that prune one database, one deletes at a time: they would wait for each other's rows crosswise. */
function remove(db: Database, work: (tx: Tx) => Promise<unknown>): Promise<void> {
  return db.write(async (tx) => {
    await tx.lock("prune");
    await work(tx);
  });
}

/** Rows whose moment is `until` or earlier. `text` is the column that may be long. */
export async function* expiredRows(
  db: Database,
  table: SQLiteTable,
  moment: Moment,
  until: Date,
  text?: AnySQLiteColumn,
): Pieces {
  for (;;) {
    const rows = await db.read
      .select({ at: moment, size: text ? sizeOf(text) : sql<number>`0` })
      .from(table)
      .where(lte(moment, until))
      .orderBy(asc(moment))
      .limit(ROWS);
    for (const some of bySize(rows)) {
      await remove(db, (tx) => tx.delete(table).where(lte(moment, some.at(-1)!.at!)));
      yield;
    }
    if (rows.length < ROWS) return;
  }
}

/** Rows of the audit log, which grows in the order of time. */
export async function* expiredAudit(db: Database, log: typeof auditLog, before: Date): Pieces {
  for (;;) {
    const rows = await db.read
      .select({ id: log.id, timestamp: log.timestamp })
      .from(log)
      .orderBy(asc(log.id))
      .limit(ROWS);
    const old = rows.filter(({ timestamp }) => timestamp < before);
    if (old.length === 0) return;
    const last = old.at(-1)!.id;
    await remove(db, (tx) => tx.delete(log).where(and(lte(log.id, last), lt(log.timestamp, before))));
    yield;
    if (old.length < ROWS) return;
  }
}

/**
 * Completed jobs with their logs and streams. What belongs to another job (a step of a flow) is as old as that one:
 * it stays until its root has ended and has had its time too.
 */
export async function* expiredJobs(db: Database, before: Date): Pieces {
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
      .limit(ROWS);
    const relatives = page.flatMap(({ parent, root }) => [parent, root]).filter((id) => id !== null);
    const young = await youngOf(db, relatives, before);
    const gone = page.filter(({ parent, root }) => !young.has(parent ?? "") && !young.has(root ?? ""));
    const ids = gone.map(({ id }) => id);
    yield* outputOf(db, jobLogs, ids);
    yield* outputOf(db, jobStreams, ids);
    for (const some of bySize(gone)) {
      const some_ids = some.map(({ id }) => id);
      await remove(db, async (tx) => {
        await forgetRuns(tx, some_ids);
        await tx.delete(jobs).where(inArray(jobs.id, some_ids));
      });
      yield;
    }
    if (page.length < ROWS) return;
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

async function* outputOf(db: Database, table: typeof jobLogs | typeof jobStreams, ids: string[]): Pieces {
  while (ids.length > 0) {
    const pieces = await db.read
      .select({ job_id: table.job_id, seq: table.seq, size: sizeOf(table.content) })
      .from(table)
      .where(inArray(table.job_id, ids))
      .orderBy(asc(table.job_id), asc(table.seq))
      .limit(ROWS);
    for (const some of bySize(pieces)) {
      const last = some.at(-1)!;
      const which = and(
        inArray(table.job_id, [...new Set(some.map(({ job_id }) => job_id))]),
        // Of the last job there may be more.
        or(ne(table.job_id, last.job_id), lte(table.seq, last.seq)),
      );
      await remove(db, (tx) => tx.delete(table).where(which));
      yield;
    }
    if (pieces.length < ROWS) return;
  }
}

/** Events that everybody who is told of them has, or has been given up for, with the record of their deliveries. */
export async function* expiredEvents(db: Database, before: Date): Pieces {
  const { seq, workspace_id, created_at, told } = webhookEvents;
  for (let after = 0; ; ) {
    // They are stored in the order of their age: behind the first that is young no other is old.
    const piece = await db.read
      .select({ seq, workspace_id, created_at, told })
      .from(webhookEvents)
      .where(gt(seq, after))
      .orderBy(asc(seq))
      .limit(ROWS);
    const old = piece.filter((event) => event.created_at < before);
    if (old.length === 0) return;
    await removeEvents(
      db,
      old.filter((event) => event.told === null),
    );
    yield;
    if (old.length < ROWS) return;
    after = old.at(-1)!.seq;
  }
}

async function removeEvents(db: Database, old: { seq: number; workspace_id: string }[]): Promise<void> {
  const places = [...new Set(old.map(({ workspace_id }) => workspace_id))];
  const told = db.read
    .select({ id: webhookEndpoints.id })
    .from(webhookEndpoints)
    .where(inArray(webhookEndpoints.workspace_id, places));
  const { endpoint_id, event_seq, state } = webhookDeliveries;
  const its = (seqs: number[]) => and(inArray(endpoint_id, told), inArray(event_seq, seqs));
  const waiting = await db.read
    .select({ seq: event_seq })
    .from(webhookDeliveries)
    .where(and(its(old.map(({ seq }) => seq)), eq(state, "pending")));
  const kept = new Set(waiting.map(({ seq }) => seq));
  const seqs = old.map(({ seq }) => seq).filter((seq) => !kept.has(seq));
  if (seqs.length === 0) return;
  await remove(db, async (tx) => {
    await tx.delete(webhookDeliveries).where(its(seqs));
    await tx.delete(webhookEvents).where(inArray(webhookEvents.seq, seqs));
  });
}
