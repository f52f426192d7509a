import { kit } from "../../database/kit.ts";

const { table, text, json, index, primaryKey } = kit;

/** Groups of a workspace. `all` needs no row: it has one when something was said of it. */
export const groups = table(
  "workspace_groups",
  {
    workspace_id: text("workspace_id").notNull(),
    name: text("name").notNull(),
    summary: text("summary").notNull(),
    /** Who manages it: names that are true. */
    extra_perms: json<Record<string, boolean>>("extra_perms").notNull(),
  },
  (t) => [primaryKey({ columns: [t.workspace_id, t.name] })],
);

/** By e-mail, which stays when somebody is called otherwise. */
export const groupMembers = table(
  "group_members",
  {
    workspace_id: text("workspace_id").notNull(),
    name: text("name").notNull(),
    email: text("email").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.workspace_id, t.name, t.email] }),
    index("group_members_by_email").on(t.workspace_id, t.email),
  ],
);

export type Group = typeof groups.$inferSelect;
