import { tableKit } from "../../../database/kit.ts";

const { table, text, integer, boolean, timestamp, primaryKey } = tableKit;

export const users = table("users", {
  email: text("email").primaryKey(),
  /** Argon2id, PHC string; null for users who log in with a provider. */
  password_hash: text("password_hash"),
  login_type: text("login_type").notNull(),
  super_admin: boolean("super_admin").notNull(),
  devops: boolean("devops").notNull().default(false),
  verified: boolean("verified").notNull(),
  name: text("name"),
  company: text("company"),
  username: text("username"),
  /** True until the first login. */
  first_time_user: boolean("first_time_user").notNull(),
  created_at: timestamp("created_at").notNull(),
  /** Bitmask of the completed tutorial steps; only clients interpret it. */
  tutorial_progress: integer("tutorial_progress").notNull().default(0),
});

/**
 * Usernames formerly used in a workspace, with the user who had them. A username is never given to another user,
 * because items below `u/<name>/` and jobs run as `u/<name>` belong to the former one.
 */
export const formerUsernames = table(
  "former_usernames",
  {
    workspace_id: text("workspace_id").notNull(),
    username: text("username").notNull(),
    email: text("email").notNull(),
  },
  (t) => [primaryKey({ columns: [t.workspace_id, t.username] })],
);
