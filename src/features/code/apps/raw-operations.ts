/** Operations on raw apps: a single bundle of JavaScript, built elsewhere. */
import { and, asc, desc, eq, getTableColumns } from "drizzle-orm";
import { startsWith } from "../../../database/conditions.ts";
import type { Reader } from "../../../database/database.ts";
import { BadRequest, NotFound } from "../../../lib/errors.ts";
import { parsePath } from "../../../lib/text/paths.ts";
import { optionalField } from "../../../lib/zod/fields.ts";
import * as z from "../../../lib/zod/z.ts";
import { readableBy, requireManageAccess } from "../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import {
  isoTimestamp,
  type Operation,
  operation,
  pagingFields,
  queryBoolean,
  responds,
  toLimitOffset,
} from "../../../platform/http/operation.ts";
import { requireScope } from "../../tenancy/tokens/scopes.ts";
import { isStarred, listStarred, moveStars } from "../favorites/service.ts";
import { requireAppWrite, requireReadable } from "./service.ts";
import { type RawApp, rawApps } from "./tables.ts";

const base = "/w/{workspace}/raw_apps" as const;

const whereRawApp = (workspace_id: string, path: string) =>
  and(eq(rawApps.workspace_id, workspace_id), eq(rawApps.path, path));

async function findRawApp(db: Reader, workspace_id: string, path: string): Promise<RawApp | undefined> {
  const [row] = await db.select().from(rawApps).where(whereRawApp(workspace_id, path));
  return row;
}

async function getRawApp(ctx: WorkspaceContext, path: string, db: Reader = ctx.app.db.read): Promise<RawApp> {
  return requireReadable(ctx, await findRawApp(db, ctx.caller.member.workspace_id, path), `raw app ${path}`);
}

export const createRawApp = operation({
  name: "createRawApp",
  method: "POST",
  path: `${base}/create`,
  access: "author",
  summary: "Deploy a raw app: a single bundle of JavaScript",
  body: z.object({ path: z.string(), value: z.string(), summary: z.string().default("") }),
  responds: responds.created("path of the app"),
  audit: { operation: "apps.create", action_kind: "Create" },
  run: async (ctx, { workspace, body }) => {
    const path = parsePath(body.path);
    requireAppWrite(ctx, path);
    await ctx.write({ resource: path }, async (tx) => {
      await tx.lock(`raw app ${workspace} ${path}`);
      if (await findRawApp(tx, workspace, path))
        throw new BadRequest(`there is a raw app at ${path} already`);
      const { value, summary } = body;
      const edited_at = ctx.app.clock();
      await tx
        .insert(rawApps)
        .values({ workspace_id: workspace, path, version: 1, summary, value, edited_at, extra_perms: {} });
    });
    return path;
  },
});

export const updateRawApp = operation({
  name: "updateRawApp",
  method: "POST",
  path: `${base}/update/{path}`,
  access: "author",
  summary: "Update or rename a raw app",
  body: z.object({
    path: optionalField(z.string()),
    value: optionalField(z.string()),
    summary: optionalField(z.string()),
  }),
  responds: responds.text("path of the app"),
  audit: { operation: "apps.update", action_kind: "Update" },
  run: async (ctx, { workspace, path: old, body }) => {
    const path = body.path === undefined ? old : parsePath(body.path);
    if (path !== old) requireScope(ctx.caller.identity, { domain: "raw_apps", action: "write" }, path);
    await ctx.write({ resource: path }, async (tx) => {
      // Always in the same order, to avoid deadlocks between two renames.
      for (const each of [...new Set([old, path])].sort()) await tx.lock(`raw app ${workspace} ${each}`);
      const row = await getRawApp(ctx, old, tx);
      requireAppWrite(ctx, old, row.extra_perms);
      if (path !== old) {
        requireManageAccess(ctx.caller.member, old, "rename");
        requireAppWrite(ctx, path);
        if (await findRawApp(tx, workspace, path))
          throw new BadRequest(`there is a raw app at ${path} already`);
      }
      await tx
        .update(rawApps)
        .set({
          path,
          version: row.version + 1,
          summary: body.summary ?? row.summary,
          value: body.value ?? row.value,
          edited_at: ctx.app.clock(),
        })
        .where(whereRawApp(workspace, old));
      if (path !== old) await moveStars(tx, workspace, { kind: "raw_app", path: old }, path);
    });
    return path;
  },
});

const listRawApps = operation({
  name: "listRawApps",
  method: "GET",
  path: `${base}/list`,
  access: "member",
  summary: "List raw apps, most recently updated first",
  query: z.object({
    ...pagingFields,
    order_desc: queryBoolean.default(true),
    path_start: z.string().optional(),
    path_exact: z.string().optional(),
    starred_only: queryBoolean.default(false),
  }),
  responds: responds.json(
    z.array(
      z.object({
        workspace_id: z.string(),
        path: z.string(),
        summary: z.string(),
        version: z.number(),
        edited_at: isoTimestamp,
        extra_perms: z.record(z.string(), z.boolean()),
        starred: z.boolean(),
      }),
    ),
  ),
  run: async (ctx, { workspace, query }) => {
    const { value: _, ...columns } = getTableColumns(rawApps);
    const { member } = ctx.caller;
    const { read } = ctx.app.db;
    const { offset, limit } = toLimitOffset(query);
    const rows = await read
      .select(columns)
      .from(rawApps)
      .where(
        and(
          eq(rawApps.workspace_id, workspace),
          readableBy(member, rawApps),
          query.starred_only ? isStarred(read, member, "raw_app", rawApps.path) : undefined,
          query.path_exact ? eq(rawApps.path, query.path_exact) : undefined,
          query.path_start ? startsWith(rawApps.path, query.path_start) : undefined,
        ),
      )
      .orderBy((query.order_desc ? desc : asc)(rawApps.edited_at), asc(rawApps.path))
      .limit(limit)
      .offset(offset);
    const paths = rows.map(({ path }) => path);
    const starred = await listStarred(read, member, "raw_app", paths);
    return rows.map((row) => ({ ...row, starred: starred.has(row.path) }));
  },
});

const existsRawApp = operation({
  name: "existsRawApp",
  method: "GET",
  path: `${base}/exists/{path}`,
  access: "member",
  summary: "Check whether a raw app exists at a path",
  responds: responds.json(z.boolean()),
  run: async (ctx, { workspace, path }) => (await findRawApp(ctx.app.db.read, workspace, path)) !== undefined,
});

const getRawAppData = operation({
  name: "getRawAppData",
  method: "GET",
  path: "/w/{workspace}/apps/get_data/{version}/{path}",
  access: "member",
  summary: "Read the bundle of a raw app, by the version shown in lists",
  responds: responds.raw("text/javascript", "the bundle"),
  run: async (ctx, { version, path }) => {
    const row = await getRawApp(ctx, path);
    if (String(row.version) !== version) {
      throw new NotFound(`version ${version.slice(0, 30)} of raw app ${path}: its version is ${row.version}`);
    }
    const headers = { "content-type": "text/javascript; charset=utf-8", "x-content-type-options": "nosniff" };
    return new Response(row.value, { headers });
  },
});

export const deleteRawApp = operation({
  name: "deleteRawApp",
  method: "DELETE",
  path: `${base}/delete/{path}`,
  access: "author",
  summary: "Delete a raw app",
  responds: responds.text("confirmation"),
  audit: { operation: "apps.delete", action_kind: "Delete" },
  run: async (ctx, { workspace, path }) => {
    await ctx.write({ resource: path }, async (tx) => {
      const row = await getRawApp(ctx, path, tx);
      requireAppWrite(ctx, path, row.extra_perms);
      await tx.delete(rawApps).where(whereRawApp(workspace, path));
    });
    return `raw app ${path} deleted`;
  },
});

export const rawAppOperations: Operation[] = [
  createRawApp,
  updateRawApp,
  listRawApps,
  existsRawApp,
  getRawAppData,
  deleteRawApp,
];
