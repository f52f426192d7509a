/** Tables of items, each of which stands at a path of a workspace: what they have in common is said once. */
import type { AnyColumn } from "drizzle-orm";
import { kit } from "./kit.ts";

const { table, text, boolean, timestamp, json } = kit;

/** No table of the database: the columns that several of them have, as all of these spell them. */
const items = table("items", {
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

export type PathTable = typeof items;
type Column = keyof PathTable["$inferSelect"];

/** A table as what it has in common with others. @param _touched columns that are touched beside workspace and path */
export function pathTable<C extends Column = never>(
  given: Record<"workspace_id" | "path" | NoInfer<C>, AnyColumn>,
  ..._touched: C[]
): PathTable {
  return given as unknown as PathTable;
}
