import { tableKit } from "../../../database/kit.ts";
import type { Policy } from "./policy.ts";

const { table, text, integer, boolean, timestamp, json, serial, index, uniqueIndex, primaryKey } = tableKit;

/** The built page: JavaScript and CSS. */
export interface Bundle {
  js: string;
  css: string;
}

/** One row per path: fields that do not depend on the version, and the policy. */
export const apps = table(
  "apps",
  {
    id: serial("id"),
    workspace_id: text("workspace_id").notNull(),
    path: text("path").notNull(),
    /** Id of the newest version. */
    version: integer("version").notNull(),
    summary: text("summary").notNull(),
    policy: json<Policy>("policy").notNull(),
    /** An additional URL path of the public page, unique in the instance. */
    custom_path: text("custom_path"),
    draft_only: boolean("draft_only").notNull(),
    /** True for apps made of code, false for apps made of components. */
    raw_app: boolean("raw_app").notNull().default(false),
    extra_perms: json<Record<string, boolean>>("extra_perms").notNull(),
  },
  (t) => [
    uniqueIndex("apps_by_path").on(t.workspace_id, t.path),
    uniqueIndex("apps_by_custom_path").on(t.custom_path),
  ],
);

/** One row per version; immutable except for the deployment message. */
export const appVersions = table(
  "app_versions",
  {
    /** Sequential over the whole instance. */
    id: serial("id"),
    workspace_id: text("workspace_id").notNull(),
    app_id: integer("app_id").notNull(),
    value: json<unknown>("value").notNull(),
    /** The built bundle of an app made of code. */
    bundle: json<Bundle>("bundle"),
    created_by: text("created_by").notNull(),
    created_at: timestamp("created_at").notNull(),
    deployment_msg: text("deployment_msg"),
  },
  (t) => [index("app_versions_by_app").on(t.app_id, t.id)],
);

/** Raw apps (one bundle of JavaScript); only the newest version is stored. */
export const rawApps = table(
  "raw_apps",
  {
    workspace_id: text("workspace_id").notNull(),
    path: text("path").notNull(),
    /** Incremented by each update, which invalidates caches of clients. */
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
