import { kit } from "../../../database/kit.ts";

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

/** Groups of the whole instance: whoever is in one is in the group of that name in every workspace they belong to. */
export const instanceGroups = table("instance_groups", {
  name: text("name").primaryKey(),
  summary: text("summary").notNull(),
  /** What a directory that people are kept in knows it by. */
  id: text("id"),
  scim_display_name: text("scim_display_name"),
  external_id: text("external_id"),
});

export const instanceGroupMembers = table(
  "instance_group_members",
  {
    name: text("name").notNull(),
    email: text("email").notNull(),
  },
  (t) => [primaryKey({ columns: [t.name, t.email] }), index("instance_group_members_by_email").on(t.email)],
);

export type InstanceGroup = typeof instanceGroups.$inferSelect;
export type Group = typeof groups.$inferSelect;
