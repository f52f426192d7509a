import { join } from "node:path";
import { type Column, getTableColumns, getTableName, is, Table } from "drizzle-orm";

const root = join(import.meta.dir, "../..");

/** Every table of the database, from the files that describe them. */
export async function allTables(): Promise<Table[]> {
  const found = new Set<Table>();
  for await (const file of new Bun.Glob("src/**/*tables.ts").scan({ cwd: root })) {
    for (const table of Object.values(await import(join(root, file)))) {
      if (is(table, Table)) found.add(table);
    }
  }
  return [...found];
}

/** Tables whose rows belong to a workspace. */
export async function tablesOfWorkspaces(): Promise<Table[]> {
  return (await allTables()).filter((table) => "workspace_id" in getTableColumns(table));
}

/** A column as `table.column`. */
export const columnName = (column: Column) => `${getTableName(column.table)}.${column.name}`;

/** Whether a column holds JSON, which the kit stores as text with its own encoding. */
export const isJson = (column: Column) =>
  column.columnType.endsWith("CustomColumn") && column.getSQLType() === "text";
