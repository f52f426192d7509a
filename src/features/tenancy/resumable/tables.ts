import { tableKit } from "../../../database/kit.ts";

const { table, text, timestamp, json } = tableKit;

/** Unfinished resumable operations. */
export const resumableOperations = table("resumable_operations", {
  id: text("id").primaryKey(),
  kind: text("kind").notNull(),
  /** The subject, such as a workspace id; one operation at a time per subject. */
  subject: text("subject").notNull().unique(),
  details: json<Record<string, unknown>>("details").notNull(),
  /** The server that runs it, by its worker name. */
  server: text("server").notNull(),
  created_at: timestamp("created_at").notNull(),
});
