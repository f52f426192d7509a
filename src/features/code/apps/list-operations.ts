/** Operations that list and look up apps. */
import { and, asc, desc, eq, sql } from "drizzle-orm";
import { startsWith } from "../../../database/conditions.ts";
import * as z from "../../../lib/zod/z.ts";
import { readableBy } from "../../../platform/access/permissions.ts";
import {
  type Operation,
  operation,
  pagingFields,
  queryBoolean,
  responds,
  toLimitOffset,
} from "../../../platform/http/operation.ts";
import { drafts } from "../drafts/tables.ts";
import { isStarred, listStarred } from "../favorites/service.ts";
import { ListableApp } from "./records.ts";
import { findApp } from "./service.ts";
import { apps, appVersions } from "./tables.ts";

const base = "/w/{workspace}/apps" as const;

const isDraftOfApp = and(
  eq(drafts.workspace_id, apps.workspace_id),
  eq(drafts.kind, "app"),
  eq(drafts.path, apps.path),
);

const listedColumns = {
  app: apps,
  edited_at: appVersions.created_at,
  deployment_msg: appVersions.deployment_msg,
  has_draft: sql<boolean>`EXISTS (SELECT 1 FROM ${drafts} WHERE ${isDraftOfApp})`.mapWith(Boolean),
};

const listApps = operation({
  name: "listApps",
  method: "GET",
  path: `${base}/list`,
  access: "member",
  summary: "List apps, most recently deployed first",
  query: z.object({
    ...pagingFields,
    order_desc: queryBoolean.default(true),
    created_by: z.string().optional(),
    path_start: z.string().optional(),
    path_exact: z.string().optional(),
    starred_only: queryBoolean.default(false),
    include_draft_only: queryBoolean.default(false),
    with_deployment_msg: queryBoolean.default(false),
  }),
  responds: responds.json(z.array(ListableApp)),
  run: async (ctx, { workspace, query }) => {
    const { member } = ctx.caller;
    const { read } = ctx.app.db;
    const order = query.order_desc ? desc : asc;
    const { offset, limit } = toLimitOffset(query);
    const rows = await read
      .select(listedColumns)
      .from(apps)
      .innerJoin(appVersions, eq(appVersions.id, apps.version))
      .where(
        and(
          eq(apps.workspace_id, workspace),
          readableBy(member, apps),
          query.starred_only ? isStarred(read, member, "app", apps.path) : undefined,
          query.include_draft_only ? undefined : eq(apps.draft_only, false),
          query.starred_only ? isStarred(read, member, "app", apps.path) : undefined,
          query.created_by ? eq(appVersions.created_by, query.created_by) : undefined,
          query.path_exact ? eq(apps.path, query.path_exact) : undefined,
          query.path_start ? startsWith(apps.path, query.path_start) : undefined,
        ),
      )
      .orderBy(order(apps.version))
      .limit(limit)
      .offset(offset);
    const paths = rows.map(({ app }) => app.path);
    const starred = await listStarred(read, member, "app", paths);
    return rows.map(({ app: { policy, custom_path: _, ...app }, deployment_msg, ...row }) => ({
      ...app,
      ...row,
      execution_mode: policy.execution_mode,
      starred: starred.has(app.path),
      ...(query.with_deployment_msg ? { deployment_msg } : {}),
    }));
  },
});

const listSearchApp = operation({
  name: "listSearchApp",
  method: "GET",
  path: `${base}/list_search`,
  access: "member",
  summary: "List apps with their values, for searching",
  responds: responds.json(z.array(z.object({ path: z.string(), value: z.unknown() }))),
  run: (ctx, { workspace }) =>
    ctx.app.db.read
      .select({ path: apps.path, value: appVersions.value })
      .from(apps)
      .innerJoin(appVersions, eq(appVersions.id, apps.version))
      .where(and(eq(apps.workspace_id, workspace), readableBy(ctx.caller.member, apps)))
      .orderBy(asc(apps.path)),
});

const existsApp = operation({
  name: "existsApp",
  method: "GET",
  path: `${base}/exists/{path}`,
  access: "member",
  summary: "Check whether an app exists at a path",
  responds: responds.json(z.boolean()),
  run: async (ctx, { workspace, path }) => (await findApp(ctx.app.db.read, workspace, path)) !== undefined,
});

const customPathExists = operation({
  name: "customPathExists",
  method: "GET",
  path: `${base}/custom_path_exists/{custom_path}`,
  access: "member",
  summary: "Check whether an app of the instance has this custom path",
  responds: responds.json(z.boolean()),
  run: async (ctx, { custom_path }) => {
    const rows = await ctx.app.db.read
      .select({ id: apps.id })
      .from(apps)
      .where(eq(apps.custom_path, custom_path));
    return rows.length > 0;
  },
});

export const appListOperations: Operation[] = [listApps, listSearchApp, existsApp, customPathExists];
