import { tableKit } from "../../../database/kit.ts";
import type { StoredSettings } from "./settings-records.ts";
import type { LargeFileStorage } from "./storage-records.ts";

const { table, text, integer, boolean, timestamp, json, index, uniqueIndex, primaryKey } = tableKit;

export const workspaces = table("workspaces", {
  id: text("id").primaryKey(),
  name: text("name").notNull(),
  /** E-mail of the creator. */
  owner: text("owner").notNull(),
  archived: boolean("archived").notNull().default(false),
  created_at: timestamp("created_at").notNull(),
  /** The workspace's encryption key, wrapped (encrypted) with the instance key. */
  wrapped_key: text("wrapped_key").notNull(),
  /** The previous key, wrapped likewise, as long as its values are being re-encrypted. */
  previous_wrapped_key: text("previous_wrapped_key"),
  /** Storage settings for the files of its jobs; null: no storage. */
  large_file_storage: json<LargeFileStorage>("large_file_storage"),
  /** Its folder below the server's file storage; null: the workspace's id. It stays the same when the id changes. */
  storage_folder: text("storage_folder"),
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
    /** Added by an admin before having an account; false after their first call. */
    unasked: boolean("unasked").notNull().default(false),
    created_at: timestamp("created_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.workspace_id, t.email] }),
    uniqueIndex("workspace_members_by_username").on(t.workspace_id, t.username),
    index("workspace_members_by_email").on(t.email),
  ],
);

/** Pending invites; the invited person becomes a member by accepting. */
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

/** Settings edited by admins; a workspace without a row has the defaults. */
export const workspaceSettings = table(
  "workspace_settings",
  {
    workspace_id: text("workspace_id").primaryKey(),
    /** E-mail domain whose users join automatically; `*` means all domains. */
    auto_invite_domain: text("auto_invite_domain"),
    /** All other settings; absent fields have their default. */
    settings: json<StoredSettings>("settings").notNull(),
  },
  (t) => [index("workspace_settings_by_domain").on(t.auto_invite_domain)],
);

/** Environment variables of every job of the workspace. */
export const workspaceEnvironment = table(
  "workspace_environment",
  {
    workspace_id: text("workspace_id").notNull(),
    name: text("name").notNull(),
    value: text("value").notNull(),
  },
  (t) => [primaryKey({ columns: [t.workspace_id, t.name] })],
);

/** Executions by user and month. */
export const workspaceUsage = table(
  "workspace_usage",
  {
    workspace_id: text("workspace_id").notNull(),
    email: text("email").notNull(),
    /** Such as `2030-01`, in UTC. */
    month: text("month").notNull(),
    jobs: integer("jobs").notNull(),
    /** Execution units: run time in seconds, rounded up per job. */
    executions: integer("executions").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.workspace_id, t.month, t.email] }),
    index("workspace_usage_by_email").on(t.email, t.month),
  ],
);
