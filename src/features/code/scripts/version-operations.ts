/** Operations on versions of scripts: history, drafts, search lists and deletion. */
import { and, asc, desc, eq } from "drizzle-orm";
import { NotFound } from "../../../lib/errors.ts";
import { optionalField } from "../../../lib/zod/fields.ts";
import * as z from "../../../lib/zod/z.ts";
import { requireWriteAccess } from "../../../platform/access/permissions.ts";
import type { Member } from "../../../platform/app/context.ts";
import {
  isoTimestamp,
  type Operation,
  operation,
  optionalBody,
  responds,
} from "../../../platform/http/operation.ts";
import { DraftFields, draftQuery, readDrafts } from "../drafts/service.ts";
import { toScriptRecord } from "./operations.ts";
import { isNewestVersion, selectReadableScripts } from "./query-conditions.ts";
import { ScriptRecord } from "./records.ts";
import { deleteScriptPath, deleteScriptVersion } from "./removal.ts";
import * as service from "./service.ts";
import { scripts } from "./tables.ts";

const base = "/w/{workspace}/scripts" as const;

const HistoryEntry = z.object({ script_hash: z.string(), deployment_msg: z.string().nullish() });

export const getScriptHistory = operation({
  name: "getScriptHistory",
  method: "GET",
  path: `${base}/history/p/{path}`,
  access: "member",
  summary: "List the versions of a script, newest first",
  responds: responds.json(z.array(HistoryEntry.extend({ created_at: isoTimestamp }))),
  run: async (ctx, { workspace, path }) => {
    await service.getScriptByPath(ctx, path);
    const rows = await ctx.app.db.read
      .select({
        script_hash: scripts.hash,
        deployment_msg: scripts.deployment_message,
        created_at: scripts.created_at,
      })
      .from(scripts)
      .where(and(eq(scripts.workspace_id, workspace), eq(scripts.path, path), eq(scripts.deleted, false)))
      .orderBy(desc(scripts.seq));
    return rows;
  },
});

const getScriptLatestVersion = operation({
  name: "getScriptLatestVersion",
  method: "GET",
  path: `${base}/get_latest_version/{path}`,
  access: "member",
  summary: "Read the newest version of a script's history",
  responds: responds.json(HistoryEntry),
  run: async (ctx, { path }) => {
    const { hash, deployment_message } = await service.getScriptByPath(ctx, path);
    return { script_hash: hash, deployment_msg: deployment_message };
  },
});

const updateScriptHistory = operation({
  name: "updateScriptHistory",
  method: "POST",
  path: `${base}/history_update/h/{hash}/p/{path}`,
  access: "author",
  summary: "Set the deployment message of a version",
  body: optionalBody(z.object({ deployment_msg: optionalField(z.string()) })),
  responds: responds.text("confirmation"),
  audit: { operation: "scripts.update", action_kind: "Update" },
  run: async (ctx, { workspace, hash, path, body }) => {
    const row = await service.getScriptByHash(ctx, hash);
    if (row.path !== path) throw new NotFound(`script with hash ${hash} in workspace ${workspace}`);
    requireWriteAccess(ctx.caller.member, path, row.extra_perms);
    await ctx.write({ resource: path, parameters: { hash } }, (tx) =>
      tx
        .update(scripts)
        .set({ deployment_message: body.deployment_msg ?? null })
        .where(and(eq(scripts.workspace_id, workspace), eq(scripts.hash, hash))),
    );
    return `version ${hash} of script ${path} updated`;
  },
});

const getScriptByPathWithDraft = operation({
  name: "getScriptByPathWithDraft",
  method: "GET",
  path: `${base}/get/draft/{path}`,
  access: "member",
  summary:
    "Read the newest version of a script, with the draft of the caller or of `draft_of`, and who else keeps one",
  query: draftQuery,
  responds: responds.json(ScriptRecord.extend(DraftFields)),
  run: async (ctx, { path, query }) => ({
    ...toScriptRecord(await service.getScriptByPath(ctx, path)),
    ...(await readDrafts(ctx, { kind: "script", path, ...query })),
  }),
});

/** Selects the newest live version of each script that the caller may read. */
const isNewestReadable = (member: Member) =>
  and(
    eq(scripts.workspace_id, member.workspace_id),
    eq(scripts.archived, false),
    eq(scripts.deleted, false),
    eq(scripts.draft_only, false),
    isNewestVersion,
    selectReadableScripts(member),
  );

export const listScriptPaths = operation({
  name: "listScriptPaths",
  method: "GET",
  path: `${base}/list_paths`,
  access: "member",
  summary: "List the paths of scripts",
  responds: responds.json(z.array(z.string())),
  run: async ({ app, caller }) => {
    const rows = await app.db.read
      .select({ path: scripts.path })
      .from(scripts)
      .where(isNewestReadable(caller.member))
      .orderBy(asc(scripts.path));
    return rows.map(({ path }) => path);
  },
});

const listSearchScript = operation({
  name: "listSearchScript",
  method: "GET",
  path: `${base}/list_search`,
  access: "member",
  summary: "List scripts with their source, for searching",
  responds: responds.json(z.array(z.object({ path: z.string(), content: z.string() }))),
  run: ({ app, caller }) =>
    app.db.read
      .select({ path: scripts.path, content: scripts.content })
      .from(scripts)
      .where(isNewestReadable(caller.member))
      .orderBy(asc(scripts.path)),
});

export const deleteScriptByPath = operation({
  name: "deleteScriptByPath",
  method: "POST",
  path: `${base}/delete/p/{path}`,
  access: "author",
  summary: "Delete a script with all its versions (admins); a draft also by users who may manage it",
  responds: responds.json(z.string(), "the path"),
  audit: { operation: "scripts.delete", action_kind: "Delete" },
  run: async (ctx, { path }) => {
    await deleteScriptPath(ctx, path);
    return path;
  },
});

const deleteScriptByHash = operation({
  name: "deleteScriptByHash",
  method: "POST",
  path: `${base}/delete/h/{hash}`,
  access: "author",
  summary: "Delete the content of one version (admins); its history entry stays",
  responds: responds.json(ScriptRecord),
  audit: { operation: "scripts.delete", action_kind: "Delete" },
  run: async (ctx, { hash }) => toScriptRecord(await deleteScriptVersion(ctx, hash)),
});

export const scriptVersionOperations: Operation[] = [
  getScriptHistory,
  getScriptLatestVersion,
  updateScriptHistory,
  getScriptByPathWithDraft,
  listScriptPaths,
  listSearchScript,
  deleteScriptByPath,
  deleteScriptByHash,
];
