/** Reads, archives and deletes scripts. */
import { and, eq } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import { NotFound } from "../../../lib/errors.ts";
import { canRead, requireManageAccess, requireWriteAccess } from "../../../platform/access/permissions.ts";
import type { App, WorkspaceContext } from "../../../platform/app/context.ts";
import { retireProcesses } from "../../../platform/cluster/processes.ts";
import { type Script, scripts } from "./tables.ts";
import { findLatestScript, findScriptVersion, invalidateScript } from "./versions.ts";

/** Returns the newest version of a script by its path. @throws NotFound, also if the caller may not read it */
export async function getScriptByPath(ctx: WorkspaceContext, path: string): Promise<Script> {
  const { member } = ctx.caller;
  const row = await findLatestScript(ctx.app.db.read, member.workspace_id, path);
  return requireReadable(ctx, row, `script ${path}`);
}

/** Returns a version of a script by its hash. @throws NotFound, also when the caller may not read it */
export async function getScriptByHash(ctx: WorkspaceContext, hash: string): Promise<Script> {
  const { member } = ctx.caller;
  const row = await findScriptVersion(ctx.app.db.read, member.workspace_id, hash);
  return requireReadable(ctx, row, `script with hash ${hash}`);
}

/** Returns the script if the caller may read it. @throws NotFound, also when the caller may not read it */
export function requireReadable(ctx: WorkspaceContext, row: Script | undefined, what: string): Script {
  const { member } = ctx.caller;
  if (!row || !canRead(member, row.path, row.extra_perms)) {
    throw new NotFound(`${what} in workspace ${member.workspace_id}`);
  }
  return row;
}

/** Mutes or unmutes the workspace's error handler for all versions of a script. */
export async function setScriptErrorHandlerMuted(
  ctx: WorkspaceContext,
  path: string,
  ws_error_handler_muted: boolean,
): Promise<void> {
  const row = await getScriptByPath(ctx, path);
  requireWriteAccess(ctx.caller.member, path, row.extra_perms);
  await ctx.write({ resource: path }, (tx) =>
    tx
      .update(scripts)
      .set({ ws_error_handler_muted })
      .where(and(eq(scripts.workspace_id, row.workspace_id), eq(scripts.path, path))),
  );
}

/** Archives all versions of a path: it cannot be run any more; the history stays. */
export async function archiveScriptPath(ctx: WorkspaceContext, path: string): Promise<void> {
  const row = await getScriptByPath(ctx, path);
  requireManageAccess(ctx.caller.member, path, "archive");
  await ctx.write({ resource: path }, async (tx) => {
    const archived = await tx
      .update(scripts)
      .set({ archived: true })
      .where(and(eq(scripts.workspace_id, row.workspace_id), eq(scripts.path, path)))
      .returning({ hash: scripts.hash });
    tx.afterCommit(() => {
      for (const { hash } of archived) retireVersion(ctx.app, row, hash);
    });
  });
}

/** Archives one version; `p/` then runs the newest remaining one. */
export async function archiveScriptVersion(ctx: WorkspaceContext, hash: string): Promise<Script> {
  const row = await getScriptByHash(ctx, hash);
  requireManageAccess(ctx.caller.member, row.path, "archive");
  await ctx.write({ resource: hash }, async (tx) => {
    await tx
      .update(scripts)
      .set({ archived: true })
      .where(and(eq(scripts.workspace_id, row.workspace_id), eq(scripts.hash, hash)));
    tx.afterCommit(() => retireVersion(ctx.app, row, hash));
  });
  return { ...row, archived: true };
}

/** Invalidates a version and retires its script processes. */
export function retireVersion(app: App, row: Script, hash: string): void {
  invalidateScript(app, row.workspace_id, row.path, hash);
  retireProcesses(app, { workspace_id: row.workspace_id, version_id: hash });
}

/** Deletes the row of one version. */
export async function deleteVersionRow(tx: Tx, { workspace_id, hash }: Script): Promise<void> {
  await tx.delete(scripts).where(and(eq(scripts.workspace_id, workspace_id), eq(scripts.hash, hash)));
}
