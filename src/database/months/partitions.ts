/**
 * Monthly partitions of the tables of jobs (PostgreSQL). `convert.ts` makes them; while servers run, the partitions of
 * coming months are added, and old ones dropped. Rows that belong to no month are in a partition named `…_default`.
 */
import { type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { Database, Reader, Tx } from "../database.ts";
import { getMonthOf, type IdRange, isInRange, type JobTable, type Month } from "./month.ts";

/** Months that have a partition before they begin. */
const MONTHS_AHEAD = 2;
/** How long adding or dropping a partition waits for the tables: others that need them wait as long. */
const LOCK_TIMEOUT_MS = 250;

export const partitionName = ({ table }: JobTable, month: Pick<Month, "name">) => `${table}_${month.name}`;
export const getDefaultPartitionName = ({ table }: JobTable) => `${table}_default`;

/** Returns those of the tables that are partitioned. */
export async function listPartitioned(db: Reader, tables: readonly JobTable[]): Promise<JobTable[]> {
  const rows = await db.rows<{ name: string }>(
    sql`SELECT c.relname AS name FROM pg_partitioned_table p JOIN pg_class c ON c.oid = p.partrelid
        WHERE c.relnamespace = current_schema()::regnamespace`,
  );
  return tables.filter(({ table }) => rows.some(({ name }) => name === table));
}

/** Lists the months that a table has a partition of, the oldest first. */
export async function listMonths(db: Reader, { table }: JobTable): Promise<Month[]> {
  const rows = await db.rows<{ name: string; bounds: string }>(
    sql`SELECT c.relname AS name, pg_get_expr(c.relpartbound, c.oid) AS bounds
        FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
        WHERE i.inhparent = ${`"${table}"`}::regclass ORDER BY c.relname`,
  );
  const months = rows.flatMap(({ name, bounds }): Month[] => {
    const [, from, to] = /^FOR VALUES FROM \('([^']+)'\) TO \('([^']+)'\)$/.exec(bounds) ?? [];
    return from === undefined ? [] : [{ name: name.slice(table.length + 1), from, to: to! }];
  });
  return months.sort((a, b) => (a.from < b.from ? -1 : 1));
}

/** Lists the months that should have a partition at this time. */
export const listComingMonths = (now: Date): Month[] =>
  Array.from({ length: MONTHS_AHEAD + 1 }, (_, later) => getMonthOf(now, later));

/**
 * Adds the missing partitions of a month to these partitioned tables. Rows of the month that had none are moved.
 * @throws an error that `isLockTimeout` recognises if the tables are in use for long
 */
export async function addMonth(db: Database, tables: readonly JobTable[], month: Month): Promise<void> {
  await db.write(async (tx) => {
    await limitLockWaits(tx);
    for (const table of tables) {
      const there = await listMonths(tx, table);
      if (!there.some(({ name }) => name === month.name)) await addPartition(tx, table, month);
    }
  });
}

async function addPartition(tx: Tx, of: JobTable, month: Month): Promise<void> {
  const [parent, others] = [sql.identifier(of.table), sql.identifier(getDefaultPartitionName(of))];
  const name = sql.identifier(partitionName(of, month));
  const isMoved = isInRange(sql.identifier(of.key), month);
  await tx.rows(sql`LOCK TABLE ${others} IN ACCESS EXCLUSIVE MODE`);
  await tx.rows(sql`CREATE TABLE ${name} (LIKE ${parent} INCLUDING ALL)`);
  await tx.rows(sql`INSERT INTO ${name} SELECT * FROM ${others} WHERE ${isMoved}`);
  await tx.rows(sql`DELETE FROM ${others} WHERE ${isMoved}`);
  await tx.rows(sql`ALTER TABLE ${parent} ATTACH PARTITION ${name} FOR VALUES ${formatBounds(month)}`);
}

/** The bounds of a month's partition in SQL, which takes no parameters there. */
export const formatBounds = ({ from, to }: IdRange): SQL => sql.raw(`FROM ('${from}') TO ('${to}')`);

/**
 * Locks the tables for `dropMonth`. Queries lock a table before its partitions, so those that wait hold none of them.
 * @throws an error that `isLockTimeout` recognises if the tables are in use for long
 */
export async function lockTables(tx: Tx, tables: readonly JobTable[]): Promise<void> {
  await limitLockWaits(tx);
  const names = tables.map(({ table }) => sql`ONLY ${sql.identifier(table)}`);
  await tx.rows(sql`LOCK TABLE ${sql.join(names, sql`, `)} IN ACCESS EXCLUSIVE MODE`);
}

/**
 * Drops the partitions of a month, with its rows.
 * @param kept ids of jobs that stay; their rows move to the default partitions
 */
export async function dropMonth(
  tx: Tx,
  tables: readonly JobTable[],
  month: Month,
  kept: readonly string[],
): Promise<void> {
  for (const of of tables) {
    const [parent, partition] = [sql.identifier(of.table), sql.identifier(partitionName(of, month))];
    const isThere = (await listMonths(tx, of)).some(({ name }) => name === month.name);
    if (!isThere) continue;
    await tx.rows(sql`ALTER TABLE ${parent} DETACH PARTITION ${partition}`);
    const stay = sql`SELECT * FROM ${partition} WHERE ${isAmong(sql.identifier(of.key), kept)}`;
    if (kept.length > 0) await tx.rows(sql`INSERT INTO ${parent} ${stay}`);
    await tx.rows(sql`DROP TABLE ${partition}`);
  }
}

/** Deletes the rows of a month from tables without partitions, such as those added after the conversion. */
export async function deleteMonth(
  tx: Tx,
  tables: readonly JobTable[],
  month: Month,
  kept: readonly string[],
): Promise<void> {
  for (const of of tables) {
    const key = sql.identifier(of.key);
    await tx.rows(
      sql`DELETE FROM ${sql.identifier(of.table)} WHERE ${isInRange(key, month)} AND NOT ${isAmong(key, kept)}`,
    );
  }
}

/** Condition for the ids in a list of any length. */
export const isAmong = (key: SQLWrapper, ids: readonly string[]): SQL =>
  sql`${key} = ANY(ARRAY(SELECT json_array_elements_text(${JSON.stringify(ids)}::text::json)))`;

async function limitLockWaits(tx: Tx): Promise<void> {
  await tx.rows(sql.raw(`SET LOCAL lock_timeout = ${LOCK_TIMEOUT_MS}`));
}
