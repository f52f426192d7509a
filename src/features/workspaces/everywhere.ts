/**
 * Every place in the database where something of a workspace is kept, as the database itself knows them: a table that
 * a feature adds is among them from its first day.
 */
import { sql } from "drizzle-orm";
import type { Database, Reader, Tx } from "../../database/database.ts";
import { jobs } from "../../queue/tables.ts";

interface Column {
  table: string;
  name: string;
}

/** Tables with a column of this name, in one order. */
async function tablesWith(db: Reader, dialect: Database["dialect"], name: string): Promise<string[]> {
  const columns =
    dialect === "sqlite"
      ? sql`SELECT m.name AS "table", c.name AS "name" FROM sqlite_master m, pragma_table_info(m.name) c
            WHERE m.type = 'table' AND c.name = ${name} ORDER BY m.name`
      : sql`SELECT table_name AS "table", column_name AS "name" FROM information_schema.columns
            WHERE table_schema = current_schema() AND column_name = ${name} ORDER BY table_name`;
  return (await db.rows<Column>(columns)).map(({ table }) => table);
}

/** Tables whose rows say in `workspace_id` where they belong. */
export function tablesOfWorkspaces(db: Reader, dialect: Database["dialect"]): Promise<string[]> {
  return tablesWith(db, dialect, "workspace_id");
}

/** Gives the rows of one workspace to another id, in all tables. */
export async function moveRows(
  tx: Tx,
  dialect: Database["dialect"],
  from: string,
  to: string,
): Promise<void> {
  for (const table of await tablesOfWorkspaces(tx, dialect)) {
    await tx.rows(sql`UPDATE ${sql.identifier(table)} SET workspace_id = ${to} WHERE workspace_id = ${from}`);
  }
}

/** Deletes the rows of a workspace in all tables but those named; what belongs to its jobs goes with them. */
export async function deleteRows(
  tx: Tx,
  dialect: Database["dialect"],
  workspace_id: string,
  but: readonly string[],
): Promise<void> {
  const own = await tablesOfWorkspaces(tx, dialect);
  const ofJobs = (await tablesWith(tx, dialect, "job_id")).filter((table) => !own.includes(table));
  for (const table of ofJobs) {
    await tx.rows(
      sql`DELETE FROM ${sql.identifier(table)} WHERE job_id IN (SELECT id FROM ${jobs} WHERE workspace_id = ${workspace_id})`,
    );
  }
  for (const table of own.filter((name) => !but.includes(name))) {
    await tx.rows(sql`DELETE FROM ${sql.identifier(table)} WHERE workspace_id = ${workspace_id}`);
  }
}

/** Deletes some jobs with everything that belongs to them. */
export async function deleteJobs(
  tx: Tx,
  dialect: Database["dialect"],
  ids: readonly string[],
): Promise<void> {
  const list = sql.join(
    ids.map((id) => sql`${id}`),
    sql`, `,
  );
  const own = await tablesOfWorkspaces(tx, dialect);
  for (const table of await tablesWith(tx, dialect, "job_id")) {
    if (own.includes(table)) continue;
    await tx.rows(sql`DELETE FROM ${sql.identifier(table)} WHERE job_id IN (${list})`);
  }
  await tx.rows(sql`DELETE FROM ${jobs} WHERE id IN (${list})`);
}
