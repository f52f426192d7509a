import { tableKit } from "../../../database/kit.ts";

const { table, text, json, index, primaryKey } = tableKit;

/** Groups of a workspace. The group `all` exists without a row; it has one if its summary or managers were set. */
export const groups = table(
  "workspace_groups",
  {
    workspace_id: text("workspace_id").notNull(),
    name: text("name").notNull(),
    summary: text("summary").notNull(),
    /** The managers: the names whose value is true. */
    extra_perms: json<Record<string, boolean>>("extra_perms").notNull(),
  },
  (t) => [primaryKey({ columns: [t.workspace_id, t.name] })],
);

/** Members of workspace groups, by e-mail, which does not change when a user is renamed. */
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

/** Groups of the instance. A member of one belongs to the group of that name in each of their workspaces. */
export const instanceGroups = table("instance_groups", {
  name: text("name").primaryKey(),
  summary: text("summary").notNull(),
  /** Ids under which an external user directory (SCIM) knows the group. */
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

export type InstanceGroupRow = typeof instanceGroups.$inferSelect;
export type GroupRow = typeof groups.$inferSelect;
