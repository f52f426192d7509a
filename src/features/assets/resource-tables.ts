import { tableKit } from "../../database/kit.ts";

const { table, text, integer, boolean, timestamp, json, primaryKey } = tableKit;

export const resources = table(
  "resources",
  {
    workspace_id: text("workspace_id").notNull(),
    path: text("path").notNull(),
    value: json<unknown>("value").notNull(),
    description: text("description").notNull(),
    resource_type: text("resource_type").notNull(),
    /** The OAuth account that created it. */
    account: integer("account"),
    is_oauth: boolean("is_oauth").notNull(),
    extra_perms: json<Record<string, boolean>>("extra_perms").notNull(),
    created_by: text("created_by").notNull(),
    edited_at: timestamp("edited_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.workspace_id, t.path] })],
);

/** Resource types; those in the workspace `admins` are visible in all workspaces. */
export const resourceTypes = table(
  "resource_types",
  {
    workspace_id: text("workspace_id").notNull(),
    name: text("name").notNull(),
    schema: json<unknown>("schema"),
    description: text("description").notNull(),
    format_extension: text("format_extension"),
    is_fileset: boolean("is_fileset").notNull(),
    /** Fields that clients sent and this version does not know, or sent empty; see `unknown-fields.ts`. */
    extra: json<Record<string, unknown>>("extra"),
    created_by: text("created_by").notNull(),
    edited_at: timestamp("edited_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.workspace_id, t.name] })],
);

export type Resource = typeof resources.$inferSelect;
export type ResourceType = typeof resourceTypes.$inferSelect;
