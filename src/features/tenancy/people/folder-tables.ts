import { tableKit } from "../../../database/kit.ts";

const { table, text, boolean, timestamp, json, primaryKey } = tableKit;

/** Folders: `f/<name>/…` is the path of everything in one. */
export const folders = table(
  "folders",
  {
    workspace_id: text("workspace_id").notNull(),
    name: text("name").notNull(),
    summary: text("summary").notNull(),
    /** The display name; null: `name` is displayed. */
    display_name: text("display_name"),
    /** Fields that clients sent and this version does not know; returned unchanged. */
    extra: json<Record<string, unknown>>("extra"),
    /** True if the creator named neither owners nor permissions; exports leave both out then. */
    owners_implied: boolean("owners_implied").notNull().default(false),
    /** `u/<user>` and `g/<group>`. Each of them is also in `extra_perms`, as true. */
    owners: json<string[]>("owners").notNull(),
    /** Grantees that may read (false) or write (true) the items in the folder. */
    extra_perms: json<Record<string, boolean>>("extra_perms").notNull(),
    created_by: text("created_by").notNull(),
    edited_at: timestamp("edited_at").notNull(),
    /** Marks a built-in folder that was deleted from this workspace. */
    deleted: boolean("deleted").notNull().default(false),
  },
  (t) => [primaryKey({ columns: [t.workspace_id, t.name] })],
);

export type FolderRow = typeof folders.$inferSelect;
