import { kit } from "../../../database/kit.ts";

const { table, text, timestamp, json } = kit;

/** Operations that take many transactions, while they are under way: what the next start finishes if this one cannot. */
export const resumableOperations = table("resumable_operations", {
  id: text("id").primaryKey(),
  kind: text("kind").notNull(),
  /** What it is about: of each there is one at a time. */
  subject: text("subject").notNull().unique(),
  details: json<Record<string, unknown>>("details").notNull(),
  /** Who is at it, as workers are called. */
  server: text("server").notNull(),
  created_at: timestamp("created_at").notNull(),
});
