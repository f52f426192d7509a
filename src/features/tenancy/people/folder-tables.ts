import { kit } from "../../../database/kit.ts";

const { table, text, boolean, timestamp, json, primaryKey } = kit;

/** What `f/<name>/…` belongs to. */
export const folders = table(
  "folders",
  {
    workspace_id: text("workspace_id").notNull(),
    name: text("name").notNull(),
    summary: text("summary").notNull(),
    /** As people call it; null: by its name. */
    display_name: text("display_name"),
    /** What clients said of it beyond what is known here: given back as it was. */
    extra: json<Record<string, unknown>>("extra"),
    /** Nobody said whose it is: it belongs to who made it, whoever that is. */
    owners_implied: boolean("owners_implied").notNull().default(false),
    /** `u/<user>` and `g/<group>`; each stands in `extra_perms` too, as true. */
    owners: json<string[]>("owners").notNull(),
    /** Who may read (false) and write (true) what is in it. */
    extra_perms: json<Record<string, boolean>>("extra_perms").notNull(),
    created_by: text("created_by").notNull(),
    edited_at: timestamp("edited_at").notNull(),
    /** Only of folders that every workspace begins with: this one has done away with it. */
    deleted: boolean("deleted").notNull().default(false),
  },
  (t) => [primaryKey({ columns: [t.workspace_id, t.name] })],
);

export type Folder = typeof folders.$inferSelect;
