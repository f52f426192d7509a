import { kit } from "../../../database/kit.ts";
import type { Policy } from "./policy.ts";

const { table, text, integer, boolean, timestamp, json, serial, index, uniqueIndex, primaryKey } = kit;

/** A page as browsers take it. */
export interface Bundle {
  js: string;
  css: string;
}

/** One row a path: what does not change from version to version, and who may run what of it. */
export const apps = table(
  "apps",
  {
    id: serial("id"),
    workspace_id: text("workspace_id").notNull(),
    path: text("path").notNull(),
    /** The newest version. */
    version: integer("version").notNull(),
    summary: text("summary").notNull(),
    policy: json<Policy>("policy").notNull(),
    /** Another address of its public page, of the whole instance. */
    custom_path: text("custom_path"),
    draft_only: boolean("draft_only").notNull(),
    /** Its pages are code of its own, and no components. */
    raw_app: boolean("raw_app").notNull().default(false),
    extra_perms: json<Record<string, boolean>>("extra_perms").notNull(),
  },
  (t) => [
    uniqueIndex("apps_by_path").on(t.workspace_id, t.path),
    uniqueIndex("apps_by_custom_path").on(t.custom_path),
  ],
);

/** One row a version; it never changes but for what its history says of it. */
export const appVersions = table(
  "app_versions",
  {
    /** Counts up over the whole instance. */
    id: serial("id"),
    workspace_id: text("workspace_id").notNull(),
    app_id: integer("app_id").notNull(),
    value: json<unknown>("value").notNull(),
    /** What was built of the code of an app that is code. */
    bundle: json<Bundle>("bundle"),
    created_by: text("created_by").notNull(),
    created_at: timestamp("created_at").notNull(),
    deployment_msg: text("deployment_msg"),
  },
  (t) => [index("app_versions_by_app").on(t.app_id, t.id)],
);

/** Apps that are one bundle of JavaScript: the newest alone is kept. */
export const rawApps = table(
  "raw_apps",
  {
    workspace_id: text("workspace_id").notNull(),
    path: text("path").notNull(),
    /** Raised by each update, so that what clients have kept of an earlier one is not used. */
    version: integer("version").notNull(),
    summary: text("summary").notNull(),
    value: text("value").notNull(),
    edited_at: timestamp("edited_at").notNull(),
    extra_perms: json<Record<string, boolean>>("extra_perms").notNull(),
  },
  (t) => [primaryKey({ columns: [t.workspace_id, t.path] })],
);

export type AppRow = typeof apps.$inferSelect;
export type AppVersion = typeof appVersions.$inferSelect;
export type RawApp = typeof rawApps.$inferSelect;
