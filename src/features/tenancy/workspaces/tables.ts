import { kit } from "../../../database/kit.ts";
import type { StoredSettings } from "./settings-records.ts";
import type { LargeFileStorage } from "./storage-records.ts";

const { table, text, integer, boolean, timestamp, json, index, uniqueIndex, primaryKey } = kit;

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
  /** The folder of its files below the server's own; null: called like the workspace. It stays when the id changes. */
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
    /** Made a member by an admin, without an account, and not come yet. */
    unasked: boolean("unasked").notNull().default(false),
    created_at: timestamp("created_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.workspace_id, t.email] }),
    uniqueIndex("workspace_members_by_username").on(t.workspace_id, t.username),
    index("workspace_members_by_email").on(t.email),
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

/** What admins have settled; a workspace without a row has the defaults. */
export const workspaceSettings = table(
  "workspace_settings",
  {
    workspace_id: text("workspace_id").primaryKey(),
    /** People of which e-mail domain belong here; `*` means all. */
    auto_invite_domain: text("auto_invite_domain"),
    /** Everything else; what is left out has its default. */
    settings: json<StoredSettings>("settings").notNull(),
  },
  (t) => [index("workspace_settings_by_domain").on(t.auto_invite_domain)],
);

/** Variables that every job of the workspace finds in its environment. */
export const workspaceEnvironment = table(
  "workspace_environment",
  {
    workspace_id: text("workspace_id").notNull(),
    name: text("name").notNull(),
    value: text("value").notNull(),
  },
  (t) => [primaryKey({ columns: [t.workspace_id, t.name] })],
);

/** How much was run, by whom, a row a month. */
export const workspaceUsage = table(
  "workspace_usage",
  {
    workspace_id: text("workspace_id").notNull(),
    email: text("email").notNull(),
    /** Such as `2030-01`, in UTC. */
    month: text("month").notNull(),
    jobs: integer("jobs").notNull(),
    /** Seconds of run, each job's begun second counted as a whole one. */
    executions: integer("executions").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.workspace_id, t.month, t.email] }),
    index("workspace_usage_by_email").on(t.email, t.month),
  ],
);
