/** Reading and retiring scripts. */
import { and, eq } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import { NotFound } from "../../../lib/errors.ts";
import { canRead, requireManage, requireWrite } from "../../../platform/access/permissions.ts";
import type { App, WorkspaceContext } from "../../../platform/app/context.ts";
import { retireChildren } from "../../../platform/cluster/processes.ts";
import { type Script, scripts } from "./tables.ts";
import { findLatest, findVersion, forgetScript } from "./versions.ts";

/** @throws NotFound, also when the caller may not read it */
export async function getScriptByPath(ctx: WorkspaceContext, path: string): Promise<Script> {
  const { member } = ctx.caller;
  const row = await findLatest(ctx.app.db.read, member.workspace_id, path);
  return readable(ctx, row, `script ${path}`);
}

/** @throws NotFound, also when the caller may not read it */
export async function getScriptByHash(ctx: WorkspaceContext, hash: string): Promise<Script> {
  const { member } = ctx.caller;
  const row = await findVersion(ctx.app.db.read, member.workspace_id, hash);
  return readable(ctx, row, `script with hash ${hash}`);
}

function readable(ctx: WorkspaceContext, row: Script | undefined, what: string): Script {
  const { member } = ctx.caller;
  if (!row || !canRead(member, row.path, row.extra_perms)) {
    throw new NotFound(`${what} in workspace ${member.workspace_id}`);
  }
  return row;
}

/** Keeps the workspace's error handler away from a script's failures, whichever version runs, or lets it see them. */
export async function setErrorHandlerMuted(
  ctx: WorkspaceContext,
  path: string,
  ws_error_handler_muted: boolean,
): Promise<void> {
  const row = await getScriptByPath(ctx, path);
  requireWrite(ctx.caller.member, path, row.extra_perms);
  await ctx.write({ resource: path }, (tx) =>
    tx
      .update(scripts)
      .set({ ws_error_handler_muted })
      .where(and(eq(scripts.workspace_id, row.workspace_id), eq(scripts.path, path))),
  );
}

/** Archives every version of a path: nothing runs any more, history stays. */
export async function archiveByPath(ctx: WorkspaceContext, path: string): Promise<void> {
  const row = await getScriptByPath(ctx, path);
  requireManage(ctx.caller.member, path, "archive");
  await ctx.write({ resource: path }, async (tx) => {
    const archived = await tx
      .update(scripts)
      .set({ archived: true })
      .where(and(eq(scripts.workspace_id, row.workspace_id), eq(scripts.path, path)))
      .returning({ hash: scripts.hash });
    tx.afterCommit(() => {
      for (const { hash } of archived) retire(ctx.app, row, hash);
    });
  });
}

/** Archives one version; `p/` then runs the newest one left. */
export async function archiveByHash(ctx: WorkspaceContext, hash: string): Promise<Script> {
  const row = await getScriptByHash(ctx, hash);
  requireManage(ctx.caller.member, row.path, "archive");
  await ctx.write({ resource: hash }, async (tx) => {
    await tx
      .update(scripts)
      .set({ archived: true })
      .where(and(eq(scripts.workspace_id, row.workspace_id), eq(scripts.hash, hash)));
    tx.afterCommit(() => retire(ctx.app, row, hash));
  });
  return { ...row, archived: true };
}

/** Ends what is remembered of a version, and its processes. */
export function retire(app: App, row: Script, hash: string): void {
  forgetScript(app, row.workspace_id, row.path, hash);
  retireChildren(app, { workspace_id: row.workspace_id, version_id: hash });
}

/** Deletes the row of one version. */
export async function removeVersion(tx: Tx, { workspace_id, hash }: Script): Promise<void> {
  await tx.delete(scripts).where(and(eq(scripts.workspace_id, workspace_id), eq(scripts.hash, hash)));
}
