import { kit } from "../../../database/kit.ts";

const { table, text, timestamp, primaryKey } = kit;

/** Lists of packages that belong to a whole workspace, such as a `requirements.in`: the newest text of each. */
export const workspaceDependencies = table(
  "workspace_dependencies",
  {
    workspace_id: text("workspace_id").notNull(),
    language: text("language").notNull(),
    /** Empty: the list that is meant where none is named. */
    name: text("name").notNull(),
    content: text("content").notNull(),
    description: text("description"),
    created_by: text("created_by").notNull(),
    created_at: timestamp("created_at").notNull(),
  },
  (t) => [primaryKey({ columns: [t.workspace_id, t.language, t.name] })],
);

export type WorkspaceDependencies = typeof workspaceDependencies.$inferSelect;
