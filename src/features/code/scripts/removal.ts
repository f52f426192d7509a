/** Deleting scripts for good: a version's source, or all there is of a path. */
import { and, eq } from "drizzle-orm";
import { Forbidden } from "../../../lib/errors.ts";
import { requireManage } from "../../../platform/access/permissions.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { forgetDraft } from "../drafts/service.ts";
import { storeImports } from "./imports/importers.ts";
import { getScriptByHash, getScriptByPath, retire } from "./service.ts";
import { type Script, scripts } from "./tables.ts";
import { findLive } from "./versions.ts";

/** Deletes a path with all its versions and its draft. Runs that wait for a version fail, and say that it is gone. */
export async function deleteByPath(ctx: WorkspaceContext, path: string): Promise<void> {
  const row = await getScriptByPath(ctx, path);
  requireDelete(ctx, row);
  const { workspace_id } = row;
  await ctx.write({ resource: path }, async (tx) => {
    await tx.lock(`script ${workspace_id} ${path}`);
    const deleted = await tx
      .delete(scripts)
      .where(and(eq(scripts.workspace_id, workspace_id), eq(scripts.path, path)))
      .returning({ hash: scripts.hash });
    await storeImports(tx, { workspace_id, kind: "script", path }, []);
    await forgetDraft(tx, { workspace_id, kind: "script", path });
    tx.afterCommit(() => {
      for (const { hash } of deleted) retire(ctx.app, row, hash);
    });
  });
}

/** Wipes one version: that it was there is all that stays. @returns what stays */
export async function deleteByHash(ctx: WorkspaceContext, hash: string): Promise<Script> {
  const row = await getScriptByHash(ctx, hash);
  requireDelete(ctx, row);
  const { workspace_id, path } = row;
  const wiped = { content: "", lock: "", schema: {}, archived: true, deleted: true };
  await ctx.write({ resource: hash }, async (tx) => {
    await tx
      .update(scripts)
      .set({ ...wiped, imports: null, parameters: [], preprocessor_parameters: null })
      .where(and(eq(scripts.workspace_id, workspace_id), eq(scripts.hash, hash)));
    if (!(await findLive(tx, workspace_id, path))) {
      await storeImports(tx, { workspace_id, kind: "script", path }, []);
    }
    tx.afterCommit(() => retire(ctx.app, row, hash));
  });
  return { ...row, ...wiped };
}

/** What was deployed is deleted by admins alone: whoever may manage it archives it. */
function requireDelete({ caller: { member } }: WorkspaceContext, { path, draft_only }: Script): void {
  if (draft_only) requireManage(member, path, "delete");
  else if (!member.is_admin) {
    throw new Forbidden("deleting a script needs an admin of the workspace", {
      hint: "whoever owns it may archive it: POST scripts/archive/p/<path>",
    });
  }
}
