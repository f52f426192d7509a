import { tableKit } from "../../../../database/kit.ts";

const { table, text, boolean, timestamp, index } = tableKit;

/** Saved arguments, to run a script or flow with them again. */
export const inputs = table(
  "inputs",
  {
    id: text("id").primaryKey(),
    workspace_id: text("workspace_id").notNull(),
    runnable_id: text("runnable_id").notNull(),
    runnable_type: text("runnable_type").$type<"ScriptHash" | "ScriptPath" | "FlowPath">().notNull(),
    name: text("name").notNull(),
    /** JSON text of an object. */
    args: text("args").notNull(),
    /** Email and username of the owner. */
    email: text("email").notNull(),
    created_by: text("created_by").notNull(),
    created_at: timestamp("created_at").notNull(),
    /** Visible to everybody who may read the script or flow. */
    is_public: boolean("is_public").notNull(),
  },
  (t) => [index("inputs_by_runnable").on(t.workspace_id, t.runnable_id, t.created_at)],
);

export type SavedInput = typeof inputs.$inferSelect;
