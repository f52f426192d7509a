import { tableKit } from "../../database/kit.ts";

const { table, text, timestamp, boolean } = tableKit;

/** Settings of the whole instance; keys without a row have their default. */
export const instanceSettings = table("instance_settings", {
  key: text("key").primaryKey(),
  /** JSON; encrypted with the instance key if `sealed`. */
  value: text("value").notNull(),
  sealed: boolean("sealed").notNull(),
  updated_at: timestamp("updated_at").notNull(),
  /** E-mail address. */
  updated_by: text("updated_by").notNull(),
});
