import { tableKit } from "../../../database/kit.ts";

const { table, text, primaryKey } = tableKit;

/** Items starred by members. */
export const favorites = table(
  "favorites",
  {
    workspace_id: text("workspace_id").notNull(),
    email: text("email").notNull(),
    kind: text("kind").$type<"script" | "flow" | "app" | "raw_app">().notNull(),
    path: text("path").notNull(),
  },
  (t) => [primaryKey({ columns: [t.workspace_id, t.email, t.kind, t.path] })],
);

export type FavoriteKind = (typeof favorites.$inferSelect)["kind"];
