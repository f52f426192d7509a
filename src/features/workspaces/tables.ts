import { kit } from "../../database/kit.ts";
import type { LargeFileStorage } from "../storage/records.ts";

const { table, text, boolean, timestamp, json, uniqueIndex, primaryKey } = kit;

export const workspaces = table("workspaces", {
  id: text("id").primaryKey(),
  name: text("name").notNull(),
  /** E-mail of the creator. */
  owner: text("owner").notNull(),
  archived: boolean("archived").notNull().default(false),
  created_at: timestamp("created_at").notNull(),
  /** The workspace's own key, wrapped by the instance key. */
  wrapped_key: text("wrapped_key").notNull(),
  /** Where its jobs' files are kept; null: nowhere. */
  large_file_storage: json<LargeFileStorage>("large_file_storage"),
});

export const workspaceMembers = table(
  "workspace_members",
  {
    workspace_id: text("workspace_id").notNull(),
    email: text("email").notNull(),
    username: text("username").notNull(),
    is_admin: boolean("is_admin").notNull(),
    operator: boolean("operator").notNull(),
    disabled: boolean("disabled").notNull().default(false),
    created_at: timestamp("created_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.workspace_id, t.email] }),
    uniqueIndex("workspace_members_by_username").on(t.workspace_id, t.username),
  ],
);

/** Who may become a member by saying so. */
export const workspaceInvites = table(
  "workspace_invites",
  {
    workspace_id: text("workspace_id").notNull(),
    email: text("email").notNull(),
    is_admin: boolean("is_admin").notNull(),
    operator: boolean("operator").notNull(),
    created_at: timestamp("created_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.workspace_id, t.email] })],
);
