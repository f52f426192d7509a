/**
 * Deletes expired rows in batches; each generator yields after every transaction. Rows are selected outside of the
 * transaction, so that SQLite's only writer is occupied for the deletion alone.
 */
import { asc, lte, type SQL, sql } from "drizzle-orm";
import type { AnySQLiteColumn, SQLiteTable } from "drizzle-orm/sqlite-core";
import type { Database, Tx } from "../../database/database.ts";

/** Upper limits of one transaction: rows, and bytes of text. Freeing that many takes a few milliseconds. */
export const MAX_ROWS = 250;
const MOST_BYTES = 1_000_000;

type TimestampColumn = AnySQLiteColumn<{ data: Date }>;
export type Batches = AsyncGenerator<void>;

/** Bytes of the texts of a row. */
export const measureTextBytes = (...texts: AnySQLiteColumn[]): SQL<number> =>
  sql<number>`${sql.join(
    texts.map((text) => sql`coalesce(octet_length(${text}), 0)`),
    sql` + `,
  )}`;

/** Splits items into consecutive batches of at most BATCH_BYTES; each has at least one item. */
export function* splitBySize<T extends { size: number }>(items: readonly T[]): Generator<T[]> {
  let some: T[] = [];
  let bytes = 0;
  for (const item of items) {
    if (some.length > 0 && bytes + item.size > MOST_BYTES) {
      yield some;
      some = [];
      bytes = 0;
    }
    some.push(item);
    bytes += item.size;
  }
  if (some.length > 0) yield some;
}

/** Deletes rows under a lock: concurrent deletions by several servers could deadlock. */
export function deleteBatch(db: Database, work: (tx: Tx) => Promise<unknown>): Promise<void> {
  return db.write(async (tx) => {
    await tx.lock("prune");
    await work(tx);
  });
}

/** Deletes rows whose timestamp is `until` or earlier. `text` is the column that may be long. */
export async function* deleteExpiredRows(
  db: Database,
  table: SQLiteTable,
  moment: TimestampColumn,
  until: Date,
  text?: AnySQLiteColumn,
): Batches {
  for (;;) {
    const rows = await db.read
      .select({ at: moment, size: text ? measureTextBytes(text) : sql<number>`0` })
      .from(table)
      .where(lte(moment, until))
      .orderBy(asc(moment))
      .limit(MAX_ROWS);
    for (const some of splitBySize(rows)) {
      await deleteBatch(db, (tx) => tx.delete(table).where(lte(moment, some.at(-1)!.at!)));
      yield;
    }
    if (rows.length < MAX_ROWS) return;
  }
}
