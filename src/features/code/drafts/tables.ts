import { tableKit } from "../../../database/kit.ts";

const { table, text, timestamp, json, primaryKey } = tableKit;

/** Drafts, one per kind, path and person. */
export const drafts = table(
  "user_drafts",
  {
    workspace_id: text("workspace_id").notNull(),
    kind: text("kind").$type<"script" | "flow" | "app">().notNull(),
    path: text("path").notNull(),
    value: json<unknown>("value").notNull(),
    created_by: text("created_by").notNull(),
    created_at: timestamp("created_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.workspace_id, t.kind, t.path, t.created_by] })],
);
