import { tableKit } from "../../database/kit.ts";

const { table, text, integer, boolean, timestamp, json, primaryKey } = tableKit;

export const variables = table(
  "variables",
  {
    workspace_id: text("workspace_id").notNull(),
    path: text("path").notNull(),
    /** Plain text, or ciphertext with the workspace's key if `is_secret`. */
    value: text("value").notNull(),
    is_secret: boolean("is_secret").notNull(),
    description: text("description").notNull(),
    account: integer("account"),
    is_oauth: boolean("is_oauth").notNull(),
    expires_at: timestamp("expires_at"),
    /** Fields that clients sent and this version does not know, or sent empty; see `unknown-fields.ts`. */
    extra: json<Record<string, unknown>>("extra"),
    extra_perms: json<Record<string, boolean>>("extra_perms").notNull(),
  },
  (t) => [primaryKey({ columns: [t.workspace_id, t.path] })],
);

export type Variable = typeof variables.$inferSelect;
