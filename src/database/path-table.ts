/** The common shape of tables whose rows are items at a path in a workspace. */
import type { AnyColumn } from "drizzle-orm";
import { tableKit } from "./kit.ts";

const { table, text, boolean, timestamp, json } = tableKit;

/** Describes the shared columns only; there is no such table in the database. */
const itemTable = table("items", {
  workspace_id: text("workspace_id").notNull(),
  path: text("path").notNull(),
  extra_perms: json<Record<string, boolean>>("extra_perms").notNull(),
  script_path: text("script_path").notNull(),
  is_flow: boolean("is_flow").notNull(),
  enabled: boolean("enabled").notNull(),
  edited_by: text("edited_by").notNull(),
  edited_at: timestamp("edited_at").notNull(),
  email: text("email").notNull(),
});

export type PathTable = typeof itemTable;
type Column = keyof PathTable["$inferSelect"];

/**
 * Views a table as its shared columns.
 * @param _touched columns that the caller uses beside workspace and path; the compiler checks that the table has them
 */
export function toPathTable<C extends Column = never>(
  given: Record<"workspace_id" | "path" | NoInfer<C>, AnyColumn>,
  ..._touched: C[]
): PathTable {
  return given as unknown as PathTable;
}
