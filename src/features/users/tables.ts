import { kit } from "../../database/kit.ts";

const { table, text, boolean, timestamp } = kit;

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
  first_time_user: boolean("first_time_user").notNull(),
  created_at: timestamp("created_at").notNull(),
});
