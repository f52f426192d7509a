/**
 * Moves and deletes the rows of a workspace in every table with a `workspace_id` (or `job_id`) column. Tables are read
 * from the database catalog, so new tables are included automatically; views and partitions are not.
 */
import { type SQL, sql } from "drizzle-orm";
import type { Database, Reader, Tx } from "../../../database/database.ts";
import { drainInBatches } from "../../../lib/async/batches.ts";
import { jobs } from "../../../platform/queue/tables.ts";

/** Returns the tables that have a column of this name, sorted. */
async function listTablesWithColumn(
  db: Reader,
  dialect: Database["dialect"],
  name: string,
): Promise<string[]> {
  const columns =
    dialect === "sqlite"
      ? sql`SELECT m.name AS "table" FROM sqlite_master m, pragma_table_info(m.name) c
            WHERE m.type = 'table' AND c.name = ${name} ORDER BY m.name`
      : sql`SELECT c.table_name AS "table" FROM information_schema.columns c
            JOIN information_schema.tables t USING (table_schema, table_name)
            WHERE table_schema = current_schema() AND t.table_type = 'BASE TABLE' AND c.column_name = ${name}
              AND c.table_name NOT IN (SELECT relname FROM pg_class WHERE relispartition)
            ORDER BY c.table_name`;
  return (await db.rows<{ table: string }>(columns)).map(({ table }) => table);
}

/**
 * Returns the tables that have a `workspace_id` column. The table of jobs comes first, so that rows stored for a job
 * in the meantime get the new id too (features/runs/search/rows.ts).
 */
export async function listWorkspaceTables(db: Database): Promise<string[]> {
  const tables = await listTablesWithColumn(db.read, db.dialect, "workspace_id");
  return tables.sort((a, b) => Number(b === "jobs") - Number(a === "jobs"));
}

/** Changes the workspace id of a table's rows, in batches. @param more further assignments of the UPDATE */
export function moveRows(
  db: Database,
  table: string,
  from: string,
  to: string,
  more: SQL = sql``,
): Promise<void> {
  const change = sql`UPDATE ${sql.identifier(table)} SET workspace_id = ${to}${more}`;
  return changeInBatches(db, table, from, change);
}

/** Deletes the workspace's rows of a table, in batches. */
export function deleteRows(db: Database, table: string, workspace_id: string): Promise<void> {
  return changeInBatches(db, table, workspace_id, sql`DELETE FROM ${sql.identifier(table)}`);
}

async function changeInBatches(db: Database, name: string, workspace_id: string, change: SQL): Promise<void> {
  const table = sql.identifier(name);
  const own = sql`workspace_id = ${workspace_id}`;
  const changed = async (which: SQL) =>
    (await db.write((tx) => tx.rows(sql`${change} WHERE ${which} RETURNING 1`))).length;
  if (db.dialect === "postgres") {
    // As an ARRAY, the subquery runs only once. In a partitioned table, rows of several partitions have the same ctid.
    await drainInBatches((limit) =>
      changed(sql`ctid = ANY(ARRAY(SELECT ctid FROM ${table} WHERE ${own} LIMIT ${limit})) AND ${own}`),
    );
  } else if (await hasWorkspaceIndex(db, name)) {
    await drainInBatches((limit) =>
      changed(sql`rowid IN (SELECT rowid FROM ${table} WHERE ${own} LIMIT ${limit})`),
    );
  } else {
    // Without an index, scans the whole table once.
    let after = Number.MIN_SAFE_INTEGER;
    await drainInBatches(async (limit) => {
      const some = sql`SELECT rowid FROM ${table} WHERE rowid > ${after} ORDER BY rowid LIMIT ${limit}`;
      const [piece] = await db.read.rows<{ end: number | null; rows: number }>(
        sql`SELECT max(rowid) AS "end", count(*) AS "rows" FROM (${some})`,
      );
      if (!piece || piece.end === null) return 0;
      await changed(sql`rowid > ${after} AND rowid <= ${piece.end} AND +${own}`);
      after = piece.end;
      return piece.rows;
    });
  }
}

/** Whether an index of the table starts with `workspace_id` (SQLite). */
async function hasWorkspaceIndex({ read }: Database, table: string): Promise<boolean> {
  const found = await read.rows(
    sql`SELECT 1 FROM pragma_index_list(${table}) AS own, pragma_index_info(own.name) AS part
        WHERE own.partial = 0 AND part.seqno = 0 AND part.name = 'workspace_id'`,
  );
  return found.length > 0;
}

/**
 * Deletes jobs with all rows that reference them, in batches.
 * @param which a condition on the table of jobs that an index supports
 */
export async function deleteJobs(db: Database, which: SQL): Promise<void> {
  const own = await listWorkspaceTables(db);
  const theirs = (await listTablesWithColumn(db.read, db.dialect, "job_id")).filter(
    (table) => !own.includes(table),
  );
  await drainInBatches(async (maximum) => {
    const some = await db.read.select({ id: jobs.id }).from(jobs).where(which).limit(maximum);
    if (some.length > 0) await db.write((tx) => deleteJobBatch(tx, theirs, some));
    return some.length;
  }, BATCH_SIZE);
}

/** Jobs deleted in one transaction; each may have logs and flow state. */
const BATCH_SIZE = 500;

async function deleteJobBatch(
  tx: Tx,
  theirs: readonly string[],
  some: readonly { id: string }[],
): Promise<void> {
  const list = sql.join(
    some.map(({ id }) => sql`${id}`),
    sql`, `,
  );
  // First, so that no new rows are stored for a job that is being deleted (features/runs/search/indexer.ts).
  await tx.rows(sql`DELETE FROM ${jobs} WHERE id IN (${list})`);
  for (const table of theirs) {
    await tx.rows(sql`DELETE FROM ${sql.identifier(table)} WHERE job_id IN (${list})`);
  }
}
