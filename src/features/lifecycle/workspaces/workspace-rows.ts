/**
 * Every place in the database where something of a workspace is kept, as the database itself knows them: a table that
 * a feature adds is among them from its first day. Views of the operator's own are none of them.
 */
import { type SQL, sql } from "drizzle-orm";
import type { Database, Reader, Tx } from "../../../database/database.ts";
import { untilNone } from "../../../lib/async/batches.ts";
import { jobs } from "../../../platform/queue/tables.ts";

/** Tables with a column of this name, in one order. */
async function tablesWith(db: Reader, dialect: Database["dialect"], name: string): Promise<string[]> {
  const columns =
    dialect === "sqlite"
      ? sql`SELECT m.name AS "table" FROM sqlite_master m, pragma_table_info(m.name) c
            WHERE m.type = 'table' AND c.name = ${name} ORDER BY m.name`
      : sql`SELECT c.table_name AS "table" FROM information_schema.columns c
            JOIN information_schema.tables t USING (table_schema, table_name)
            WHERE table_schema = current_schema() AND t.table_type = 'BASE TABLE' AND c.column_name = ${name}
            ORDER BY c.table_name`;
  return (await db.rows<{ table: string }>(columns)).map(({ table }) => table);
}

/** Tables whose rows say in `workspace_id` where they belong. */
export function tablesOfWorkspaces(db: Database): Promise<string[]> {
  return tablesWith(db.read, db.dialect, "workspace_id");
}

/** Gives the rows that a workspace has in a table to another id, in pieces. @param more is set with it */
export function moveRows(
  db: Database,
  table: string,
  from: string,
  to: string,
  more: SQL = sql``,
): Promise<void> {
  const change = sql`UPDATE ${sql.identifier(table)} SET workspace_id = ${to}${more}`;
  return changeRows(db, table, from, change);
}

/** Deletes the rows that a workspace has in a table, in pieces. */
export function deleteRows(db: Database, table: string, workspace_id: string): Promise<void> {
  return changeRows(db, table, workspace_id, sql`DELETE FROM ${sql.identifier(table)}`);
}

async function changeRows(db: Database, name: string, workspace_id: string, change: SQL): Promise<void> {
  const table = sql.identifier(name);
  const own = sql`workspace_id = ${workspace_id}`;
  const changed = async (which: SQL) =>
    (await db.write((tx) => tx.rows(sql`${change} WHERE ${which} RETURNING 1`))).length;
  if (db.dialect === "postgres") {
    // As an array it is asked for once.
    await untilNone((most) =>
      changed(sql`ctid = ANY(ARRAY(SELECT ctid FROM ${table} WHERE ${own} LIMIT ${most}))`),
    );
  } else if (await leadsToWorkspaces(db, name)) {
    await untilNone((most) => changed(sql`rowid IN (SELECT rowid FROM ${table} WHERE ${own} LIMIT ${most})`));
  } else {
    // Nothing leads to its rows: all are gone through, once.
    let after = Number.MIN_SAFE_INTEGER;
    await untilNone(async (most) => {
      const some = sql`SELECT rowid FROM ${table} WHERE rowid > ${after} ORDER BY rowid LIMIT ${most}`;
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

/** Whether an index of the table begins with the workspace; of SQLite. */
async function leadsToWorkspaces({ read }: Database, table: string): Promise<boolean> {
  const found = await read.rows(
    sql`SELECT 1 FROM pragma_index_list(${table}) AS own, pragma_index_info(own.name) AS part
        WHERE own.partial = 0 AND part.seqno = 0 AND part.name = 'workspace_id'`,
  );
  return found.length > 0;
}

/**
 * Deletes jobs with everything that belongs to them, in pieces.
 * @param which a condition on the table of jobs that an index leads to
 */
export async function deleteJobs(db: Database, which: SQL): Promise<void> {
  const own = await tablesOfWorkspaces(db);
  const theirs = (await tablesWith(db.read, db.dialect, "job_id")).filter((table) => !own.includes(table));
  await untilNone(async (most) => {
    const some = await db.read.select({ id: jobs.id }).from(jobs).where(which).limit(most);
    if (some.length > 0) await db.write((tx) => deleteSome(tx, theirs, some));
    return some.length;
  }, MOST_DELETED);
}

/** Jobs deleted in one transaction: each may have a log and rows of its run. */
const MOST_DELETED = 500;

async function deleteSome(tx: Tx, theirs: readonly string[], some: readonly { id: string }[]): Promise<void> {
  const list = sql.join(
    some.map(({ id }) => sql`${id}`),
    sql`, `,
  );
  for (const table of theirs) {
    await tx.rows(sql`DELETE FROM ${sql.identifier(table)} WHERE job_id IN (${list})`);
  }
  await tx.rows(sql`DELETE FROM ${jobs} WHERE id IN (${list})`);
}
