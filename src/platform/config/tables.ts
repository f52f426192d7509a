import { kit } from "../../database/kit.ts";

const { table, text, timestamp, boolean } = kit;

/** What super admins have set for the whole instance; a key that is not here has its default. */
export const instanceSettings = table("instance_settings", {
  key: text("key").primaryKey(),
  /** JSON; sealed with the instance key where `sealed` says so. */
  value: text("value").notNull(),
  sealed: boolean("sealed").notNull(),
  updated_at: timestamp("updated_at").notNull(),
  /** E-mail. */
  updated_by: text("updated_by").notNull(),
});
