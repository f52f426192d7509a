import { join } from "node:path";
import { type Column, getTableColumns, getTableName, is, Table } from "drizzle-orm";

const root = join(import.meta.dir, "../..");

/** Every table of the database, found in the files that describe them. */
export async function allTables(): Promise<Table[]> {
  const found = new Set<Table>();
  for await (const file of new Bun.Glob("src/**/*tables.ts").scan({ cwd: root })) {
    for (const table of Object.values(await import(join(root, file)))) {
      if (is(table, Table)) found.add(table);
    }
  }
  return [...found];
}

/** Those whose rows say which workspace they belong to. */
export async function tablesOfWorkspaces(): Promise<Table[]> {
  return (await allTables()).filter((table) => "workspace_id" in getTableColumns(table));
}

/** A column as `table.column`. */
export const columnName = (column: Column) => `${getTableName(column.table)}.${column.name}`;

/** Whether a column holds JSON: the kit keeps it in columns of text with a coding of their own. */
export const isJson = (column: Column) =>
  column.columnType.endsWith("CustomColumn") && column.getSQLType() === "text";
