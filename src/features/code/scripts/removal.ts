/** Deletes scripts permanently: one version, or all versions of a path. */
import { and, eq, ne } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import { Forbidden } from "../../../lib/errors.ts";
import { requireManageAccess, requireWriteAccess } from "../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { deleteDraftRow, deleteDraftRows } from "../drafts/service.ts";
import { storeImports } from "./imports/importers.ts";
import { deleteVersionRow, getScriptByHash, requireReadable, retireVersion } from "./service.ts";
import { type Script, scripts } from "./tables.ts";
import { findLatestScript, findLiveScript } from "./versions.ts";

/**
 * Deletes a path with all versions and drafts. If a new draft replaces an archived script there, only the draft is
 * deleted. Queued jobs of the script fail with an error that says so. @throws NotFound, Forbidden
 */
export async function deleteScriptPath(ctx: WorkspaceContext, path: string): Promise<void> {
  const { workspace_id } = ctx.caller.member;
  await ctx.write({ resource: path }, async (tx) => {
    await tx.lock(`script ${workspace_id} ${path}`);
    const row = requireReadable(ctx, await findLatestScript(tx, workspace_id, path), `script ${path}`);
    requireDeleteRight(ctx, row);
    const place = { workspace_id, kind: "script", path } as const;
    if (row.draft_only && (await hasOtherVersion(tx, row))) {
      await deleteVersionRow(tx, row);
      await deleteDraftRow(tx, { ...place, created_by: row.created_by });
      tx.afterCommit(() => retireVersion(ctx.app, row, row.hash));
      return;
    }
    const deleted = await tx
      .delete(scripts)
      .where(and(eq(scripts.workspace_id, workspace_id), eq(scripts.path, path)))
      .returning({ hash: scripts.hash });
    await storeImports(tx, place, []);
    await deleteDraftRows(tx, place);
    tx.afterCommit(() => {
      for (const { hash } of deleted) retireVersion(ctx.app, row, hash);
    });
  });
}

/** Whether the path has versions, in any state, beside this one. */
async function hasOtherVersion(tx: Tx, { workspace_id, path, hash }: Script): Promise<boolean> {
  const others = and(eq(scripts.workspace_id, workspace_id), eq(scripts.path, path), ne(scripts.hash, hash));
  return (await tx.select({ hash: scripts.hash }).from(scripts).where(others).limit(1)).length > 0;
}

/** Deletes the content of one version; its row stays, marked as deleted. @returns the remaining row */
export async function deleteScriptVersion(ctx: WorkspaceContext, hash: string): Promise<Script> {
  const row = await getScriptByHash(ctx, hash);
  requireDeleteRight(ctx, row);
  const { workspace_id, path } = row;
  const wiped = { content: "", lock: "", schema: {}, archived: true, deleted: true };
  await ctx.write({ resource: hash }, async (tx) => {
    await tx
      .update(scripts)
      .set({ ...wiped, imports: null, parameters: [], preprocessor_parameters: null })
      .where(and(eq(scripts.workspace_id, workspace_id), eq(scripts.hash, hash)));
    if (!(await findLiveScript(tx, workspace_id, path))) {
      await storeImports(tx, { workspace_id, kind: "script", path }, []);
    }
    tx.afterCommit(() => retireVersion(ctx.app, row, hash));
  });
  return { ...row, ...wiped };
}

/**
 * Checks that the caller may delete a script: an admin, or for a draft also the user who began it. Others may archive
 * scripts.
 */
function requireDeleteRight({ caller: { member } }: WorkspaceContext, script: Script): void {
  const { path, draft_only, created_by, extra_perms } = script;
  if (draft_only && created_by === member.username) requireWriteAccess(member, path, extra_perms);
  else if (draft_only) requireManageAccess(member, path, "delete");
  else if (!member.is_admin) {
    throw new Forbidden("deleting a script needs an admin of the workspace", {
      hint: "its owners may archive it: POST scripts/archive/p/<path>",
    });
  }
}
