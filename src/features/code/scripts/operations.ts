import { and, asc, desc, eq, getTableColumns, inArray, type SQL, sql } from "drizzle-orm";
import { containsText, endsWith, startsWith } from "../../../database/conditions.ts";
import { parsePath } from "../../../lib/text/paths.ts";
import * as z from "../../../lib/zod/z.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import {
  type Operation,
  operation,
  pagingFields,
  queryBoolean,
  responds,
  toLimitOffset,
} from "../../../platform/http/operation.ts";
import { addNotOfferedHeader } from "../../tenancy/rights/not-offered.ts";
import { drafts } from "../drafts/tables.ts";
import { hasStarred, isStarred, listStarred } from "../favorites/service.ts";
import * as deploy from "./deploy.ts";
import { isNewestVersion, selectReadableScripts } from "./query-conditions.ts";
import { NewScript, ScriptRecord, ScriptSummary } from "./records.ts";
import * as service from "./service.ts";
import { type Script, scripts } from "./tables.ts";
import { findLiveScript } from "./versions.ts";

const base = "/w/{workspace}/scripts" as const;

export function toScriptRecord(row: Script, starred = false) {
  const {
    seq: _,
    ready: __,
    parameters: ___,
    preprocessor_parameters: ____,
    deployment_message: _____,
    bundle: ______,
    extra,
    language,
    ...rest
  } = row;
  return { ...extra, ...rest, language: language as "bun", starred };
}

export const createScript = operation({
  name: "createScript",
  method: "POST",
  path: `${base}/create`,
  access: "author",
  summary: "Deploy a new version of a script",
  body: NewScript,
  responds: responds.created("hash of the new version"),
  audit: { operation: "scripts.create", action_kind: "Create" },
  run: async (ctx, { body }) => addNotOfferedHeader(await deploy.createScript(ctx, body), body, body.extra),
});

const {
  content: _content,
  lock: _lock,
  lock_error_logs: _errors,
  parameters: _parameters,
  preprocessor_parameters: _preprocessor,
  ready: _ready,
  bundle: _bundle,
  extra: _extra,
  seq: _seq,
  ...summaryColumns
} = getTableColumns(scripts);
const isDraftOfScript = and(
  eq(drafts.workspace_id, scripts.workspace_id),
  eq(drafts.kind, "script"),
  eq(drafts.path, scripts.path),
);
const scriptColumns = {
  ...summaryColumns,
  has_draft: sql<boolean>`EXISTS (SELECT 1 FROM ${drafts} WHERE ${isDraftOfScript})`.mapWith(Boolean),
  has_deploy_errors: sql<boolean>`${scripts.lock_error_logs} IS NOT NULL`.mapWith(Boolean),
};

export const listScripts = operation({
  name: "listScripts",
  method: "GET",
  path: `${base}/list`,
  access: "member",
  summary: "List the newest version of each script",
  query: z.object({
    ...pagingFields,
    order_desc: queryBoolean.default(true),
    created_by: z.string().optional(),
    path_start: z.string().optional(),
    path_exact: z.string().optional(),
    show_archived: queryBoolean.default(false),
    include_draft_only: queryBoolean.default(false),
    starred_only: queryBoolean.default(false),
    include_without_main: queryBoolean.default(false),
    is_template: queryBoolean.optional(),
    /** Versions that descend from this one. */
    parent_hash: z.string().optional(),
    /** Versions whose direct predecessor is this one. */
    first_parent_hash: z.string().optional(),
    /** Versions whose first ancestor is this one. */
    last_parent_hash: z.string().optional(),
    kinds: z.string().optional(),
    languages: z.string().optional(),
    with_deployment_msg: queryBoolean.default(false),
  }),
  responds: responds.json(z.array(ScriptSummary), "scripts without their content"),
  run: async (ctx, { workspace, query }) => {
    const { member } = ctx.caller;
    const { read } = ctx.app.db;
    const order = query.order_desc ? desc : asc;
    const { offset, limit } = toLimitOffset(query);
    const rows = await read
      .select(scriptColumns)
      .from(scripts)
      .where(
        and(
          eq(scripts.workspace_id, workspace),
          eq(scripts.deleted, false),
          eq(scripts.archived, query.show_archived),
          isNewestVersion,
          selectReadableScripts(member),
          query.starred_only ? isStarred(read, member, "script", scripts.path) : undefined,
          query.created_by ? eq(scripts.created_by, query.created_by) : undefined,
          query.path_exact ? eq(scripts.path, query.path_exact) : undefined,
          query.path_start ? startsWith(scripts.path, query.path_start) : undefined,
          query.include_draft_only ? undefined : eq(scripts.draft_only, false),
          query.include_without_main ? undefined : eq(scripts.no_main_func, false),
          query.is_template === undefined ? undefined : eq(scripts.is_template, query.is_template),
          ...createDescentFilters(query),
          query.kinds ? inArray(scripts.kind, query.kinds.split(",")) : undefined,
          query.languages ? inArray(scripts.language, query.languages.split(",")) : undefined,
        ),
      )
      .orderBy(order(scripts.seq))
      .limit(limit)
      .offset(offset);
    const paths = rows.map(({ path }) => path);
    const starred = await listStarred(read, member, "script", paths);
    return rows.map(({ deployment_message, language, ...row }) => ({
      ...row,
      language: language as "bun",
      starred: starred.has(row.path),
      ...(query.with_deployment_msg ? { deployment_msg: deployment_message } : {}),
    }));
  },
});

interface Descent {
  parent_hash?: string | undefined;
  first_parent_hash?: string | undefined;
  last_parent_hash?: string | undefined;
}

/**
 * Yields conditions on the ancestors, stored as a JSON array with the nearest first. Hashes are hexadecimal, so text
 * search is exact.
 */
function* createDescentFilters({
  parent_hash,
  first_parent_hash,
  last_parent_hash,
}: Descent): Generator<SQL> {
  const ancestors = scripts.parent_hashes;
  if (parent_hash) yield containsText(ancestors, JSON.stringify(parent_hash));
  if (first_parent_hash) yield startsWith(ancestors, `[${JSON.stringify(first_parent_hash)}`);
  if (last_parent_hash) yield endsWith(ancestors, `${JSON.stringify(last_parent_hash)}]`);
}

const starredInfo = z.object({ with_starred_info: queryBoolean.default(false) });

async function toStarredRecord(
  ctx: WorkspaceContext,
  row: Script,
  { with_starred_info }: z.output<typeof starredInfo>,
) {
  return toScriptRecord(
    row,
    with_starred_info && (await hasStarred(ctx, { kind: "script", path: row.path })),
  );
}

export const getScriptByPath = operation({
  name: "getScriptByPath",
  method: "GET",
  path: `${base}/get/p/{path}`,
  access: "member",
  summary: "Read the newest version of a script",
  query: starredInfo,
  responds: responds.json(ScriptRecord),
  run: async (ctx, { path, query }) => toStarredRecord(ctx, await service.getScriptByPath(ctx, path), query),
});

export const getScriptByHash = operation({
  name: "getScriptByHash",
  method: "GET",
  path: `${base}/get/h/{hash}`,
  access: "member",
  summary: "Read one version of a script",
  query: starredInfo,
  responds: responds.json(ScriptRecord),
  run: async (ctx, { hash, query }) => toStarredRecord(ctx, await service.getScriptByHash(ctx, hash), query),
});

export const existsScriptByPath = operation({
  name: "existsScriptByPath",
  method: "GET",
  path: `${base}/exists/p/{path}`,
  access: "member",
  summary: "Check whether an active script exists at a path",
  responds: responds.json(z.boolean()),
  run: async (ctx, { workspace, path }) =>
    (await findLiveScript(ctx.app.db.read, workspace, path)) !== undefined,
});

export const archiveScriptByPath = operation({
  name: "archiveScriptByPath",
  method: "POST",
  path: `${base}/archive/p/{path}`,
  access: "author",
  summary: "Archive a script with all its versions",
  responds: responds.text("confirmation"),
  audit: { operation: "scripts.archive", action_kind: "Update" },
  run: async (ctx, { path }) => {
    await service.archiveScriptPath(ctx, parsePath(path));
    return `script ${path} archived`;
  },
});

export const archiveScriptByHash = operation({
  name: "archiveScriptByHash",
  method: "POST",
  path: `${base}/archive/h/{hash}`,
  access: "author",
  summary: "Archive one version of a script",
  responds: responds.json(ScriptRecord),
  audit: { operation: "scripts.archive", action_kind: "Update" },
  run: async (ctx, { hash }) => toScriptRecord(await service.archiveScriptVersion(ctx, hash)),
});

export const getScriptDeploymentStatus = operation({
  name: "getScriptDeploymentStatus",
  method: "GET",
  path: `${base}/deployment_status/h/{hash}`,
  access: "member",
  summary: "Read whether a version's dependencies are resolved; without `lock` they are not yet",
  responds: responds.json(z.object({ lock: z.string().optional(), lock_error_logs: z.string().optional() })),
  run: async (ctx, { hash }) => {
    const row = await service.getScriptByHash(ctx, hash);
    const lock = row.ready ? (row.lock ?? undefined) : undefined;
    return { lock, lock_error_logs: row.lock_error_logs ?? undefined };
  },
});

const toggleWorkspaceErrorHandlerForScript = operation({
  name: "toggleWorkspaceErrorHandlerForScript",
  method: "POST",
  path: `${base}/toggle_workspace_error_handler/p/{path}`,
  access: "author",
  summary: "Mute or unmute the workspace's error handler for a script",
  body: z.object({ muted: z.boolean().default(false) }),
  responds: responds.text("confirmation"),
  audit: { operation: "scripts.toggle_workspace_error_handler", action_kind: "Update" },
  run: async (ctx, { path, body: { muted } }) => {
    await service.setScriptErrorHandlerMuted(ctx, path, muted);
    return `error handler ${muted ? "muted" : "unmuted"} for script ${path}`;
  },
});

export const scriptOperations: Operation[] = [
  createScript,
  listScripts,
  getScriptByPath,
  getScriptByHash,
  existsScriptByPath,
  archiveScriptByPath,
  archiveScriptByHash,
  getScriptDeploymentStatus,
  toggleWorkspaceErrorHandlerForScript,
];
