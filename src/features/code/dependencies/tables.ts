import { tableKit } from "../../../database/kit.ts";

const { table, text, timestamp, primaryKey } = tableKit;

/** Workspace dependencies, such as a `requirements.in`; only the newest text is stored. */
export const workspaceDependencies = table(
  "workspace_dependencies",
  {
    workspace_id: text("workspace_id").notNull(),
    language: text("language").notNull(),
    /** Empty for the language's default list. */
    name: text("name").notNull(),
    content: text("content").notNull(),
    description: text("description"),
    created_by: text("created_by").notNull(),
    created_at: timestamp("created_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.workspace_id, t.language, t.name] })],
);

export type WorkspaceDependencies = typeof workspaceDependencies.$inferSelect;
