import { kit } from "../../../database/kit.ts";

const { table, text, integer, boolean, timestamp, primaryKey } = kit;

export const users = table("users", {
  email: text("email").primaryKey(),
  /** Argon2id, PHC string; null for people who log in elsewhere. */
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
  /** The steps of the tutorials that were done, a bit each; only clients read it. */
  tutorial_progress: integer("tutorial_progress").notNull().default(0),
});

/**
 * Names that people had in a workspace. What stands under `u/<name>/` and what ran as `u/<name>` is never somebody
 * else's, so the name goes to nobody but the one who had it.
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
