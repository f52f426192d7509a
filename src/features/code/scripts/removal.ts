/** Deletes scripts permanently: one version, or all versions of a path. */
import { and, eq } from "drizzle-orm";
import { Forbidden } from "../../../lib/errors.ts";
import { requireManageAccess, requireWriteAccess } from "../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { deleteDraftRows } from "../drafts/service.ts";
import { storeImports } from "./imports/importers.ts";
import { getScriptByHash, getScriptByPath, retireVersion } from "./service.ts";
import { type Script, scripts } from "./tables.ts";
import { findLiveScript } from "./versions.ts";

/** Deletes a path with all versions and its draft. Queued jobs of it fail with an error that says so. */
export async function deleteScriptPath(ctx: WorkspaceContext, path: string): Promise<void> {
  const row = await getScriptByPath(ctx, path);
  requireDeleteRight(ctx, row);
  const { workspace_id } = row;
  await ctx.write({ resource: path }, async (tx) => {
    await tx.lock(`script ${workspace_id} ${path}`);
    const deleted = await tx
      .delete(scripts)
      .where(and(eq(scripts.workspace_id, workspace_id), eq(scripts.path, path)))
      .returning({ hash: scripts.hash });
    await storeImports(tx, { workspace_id, kind: "script", path }, []);
    await deleteDraftRows(tx, { workspace_id, kind: "script", path });
    tx.afterCommit(() => {
      for (const { hash } of deleted) retireVersion(ctx.app, row, hash);
    });
  });
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

/** Deployed scripts are deleted by admins only; others may archive them. Who began a draft may delete it. */
function requireDeleteRight({ caller: { member } }: WorkspaceContext, script: Script): void {
  const { path, draft_only, created_by, extra_perms } = script;
  if (draft_only && created_by === member.username) requireWriteAccess(member, path, extra_perms);
  else if (draft_only) requireManageAccess(member, path, "delete");
  else if (!member.is_admin) {
    throw new Forbidden("deleting a script needs an admin of the workspace", {
      hint: "whoever owns it may archive it: POST scripts/archive/p/<path>",
    });
  }
}
