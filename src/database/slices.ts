/**
 * Splits a change of many rows into parts, because one statement would take too long. Each part runs in its own
 * transaction and may be repeated. The key at which the next part begins is read from `db`, between the transactions.
 */
import { type AnyColumn, type SQL, sql, type Table } from "drizzle-orm";
import { preventIndexUse } from "./conditions.ts";
import type { Reader, Tx } from "./database.ts";
import { dialect } from "./kit.ts";

/** One part of a change, for one transaction. */
export interface Part {
  /** Undefined if the part only read rows and found none to change. */
  run: ((tx: Tx) => Promise<void>) | undefined;
  /** Whether an earlier part was for the same table and purpose, so that there are many rows. */
  continues: boolean;
}

/** Maximum number of rows that a part reads: in index order, and in the file's order. */
const ROWS_READ = 1_000;
const ROWS_SCANNED = 10_000;
/** Maximum number of rows that a part changes. */
const ROWS_CHANGED = 500;

/**
 * Splits work on the rows that satisfy `own`, in the order of `key`. Rows inserted later at positions already passed
 * are left out.
 * @param key a column that follows those of `own` in an index
 * @param work receives a condition for consecutive rows
 */
export async function* divideByKey(
  db: Reader,
  key: AnyColumn,
  own: SQL,
  work: (tx: Tx, slice: SQL) => Promise<void>,
): AsyncGenerator<Part> {
  for (let rest = own, continues = false; ; continues = true) {
    const [end] = await db.rows<{ key: string | number }>(
      sql`SELECT ${key} AS "key" FROM ${key.table} WHERE ${rest} ORDER BY ${key} LIMIT 1 OFFSET ${ROWS_READ - 1}`,
    );
    const slice = end ? sql`${rest} AND ${key} <= ${end.key}` : rest;
    yield { run: (tx) => work(tx, slice), continues };
    if (!end) return;
    rest = sql`${own} AND ${key} > ${end.key}`;
  }
}

/**
 * Splits a statement over many rows.
 * @param change the statement without a condition, such as `UPDATE … SET …`
 * @param which condition for the rows to change; changed rows must not satisfy it any more
 */
export function divideChange(db: Reader, table: Table, change: SQL, which: SQL): AsyncGenerator<Part> {
  return dialect === "postgres" ? drain(table, change, which) : scan(db, table, change, which);
}

async function* drain(table: Table, change: SQL, which: SQL): AsyncGenerator<Part> {
  // As an ARRAY, the subquery runs only once. In a partitioned table, rows of several partitions have the same ctid.
  const some = sql`ctid = ANY(ARRAY(SELECT ctid FROM ${table} WHERE ${which} LIMIT ${ROWS_CHANGED})) AND ${which}`;
  let changed = 0;
  const run = async (tx: Tx) => {
    changed = (await tx.rows(sql`${change} WHERE ${some} RETURNING 1`)).length;
  };
  yield { run, continues: false };
  while (changed >= ROWS_CHANGED) yield { run, continues: true };
}

/** Yields slices in the order of row ids: this needs no index and changes none that the search uses. */
async function* scan(db: Reader, table: Table, change: SQL, which: SQL): AsyncGenerator<Part> {
  const at = async (where: SQL, offset: number): Promise<number | undefined> => {
    const [row] = await db.rows<{ rowid: number }>(
      sql`SELECT rowid AS "rowid" FROM ${table} WHERE ${where} ORDER BY rowid LIMIT 1 OFFSET ${offset}`,
    );
    return row?.rowid;
  };
  for (let rest = sql`rowid > ${Number.MIN_SAFE_INTEGER}`, continues = false; ; continues = true) {
    let end = await at(rest, ROWS_SCANNED - 1);
    let slice = sql`${rest} AND ${preventIndexUse(which)} ${end === undefined ? sql`` : sql`AND rowid <= ${end}`}`;
    const isAny = (await at(slice, 0)) !== undefined;
    const enough = isAny ? await at(slice, ROWS_CHANGED - 1) : undefined;
    if (enough !== undefined) {
      end = enough;
      slice = sql`${slice} AND rowid <= ${enough}`;
    }
    const where = slice;
    yield {
      run: isAny ? async (tx) => void (await tx.rows(sql`${change} WHERE ${where}`)) : undefined,
      continues,
    };
    if (end === undefined) return;
    rest = sql`rowid > ${end}`;
  }
}
