/** A workspace is archived, brought back, or deleted. */
import { and, eq } from "drizzle-orm";
import type { App, UserContext, WorkspaceContext } from "../../context.ts";
import { BadRequest, Forbidden, NotFound } from "../../errors.ts";
import { jobs } from "../../queue/tables.ts";
import { recordAudit } from "../audit/service.ts";
import { auditLog } from "../audit/tables.ts";
import { forgetRoutes } from "../http-triggers/table.ts";
import { removeFiles } from "../storage/service.ts";
import { removeEndpoints } from "../webhooks/endpoints.ts";
import { close, closeMeanwhile, holdAlone, reopen, untilHeard } from "./closed.ts";
import { endJobs, untilEnded } from "./end-jobs.ts";
import { deleteJobs, deleteRows } from "./everywhere.ts";
import { boundTokens, forgetWorkspace } from "./forget.ts";
import { forgetMembers } from "./members.ts";
import { refuseSpecial } from "./service.ts";
import { workspaceMembers, workspaces } from "./tables.ts";

/** How long jobs that were asked to stop may take to do so before their rows go all the same. */
const STOP_MS = 10_000;
/** Jobs deleted in one transaction. */
const AT_ONCE = 250;
export const ARCHIVED = "is archived";

/**
 * Nobody gets into the workspace any more, and nothing begins in it. What has not ended is canceled: a job that waits
 * for its time would else begin years later, when the workspace is brought back.
 * @throws BadRequest for the super admins' workspace
 */
export async function archiveWorkspace(ctx: WorkspaceContext): Promise<void> {
  const { app, caller } = ctx;
  const id = caller.member.workspace_id;
  refuseSpecial(id, "archived");
  closeMeanwhile(app, id, ARCHIVED);
  try {
    await ctx.write({ resource: id }, async (tx) => {
      await holdAlone(tx, id);
      await tx.update(workspaces).set({ archived: true }).where(eq(workspaces.id, id));
      tx.afterCommit(() => forgetPlaces(app));
    });
  } catch (cause) {
    reopen(app, id);
    throw cause;
  }
  close(app, id, ARCHIVED);
  await endJobs(ctx, id, "the workspace was archived", "unfinished");
}

/** Who gets in, and which routes lead there, is asked for anew. */
function forgetPlaces(app: App): void {
  forgetMembers(app);
  forgetRoutes(app);
}

/**
 * Brings an archived workspace back, for its admins and for super admins.
 * @throws Forbidden, also when there is no such workspace: a stranger learns nothing; BadRequest when it is not archived
 */
export async function unarchiveWorkspace(ctx: UserContext, id: string): Promise<void> {
  const { app, caller } = ctx;
  const { email, super_admin } = caller.identity;
  await ctx.write({ resource: id }, async (tx) => {
    const [workspace] = await tx.select().from(workspaces).where(eq(workspaces.id, id));
    const [member] = await tx
      .select()
      .from(workspaceMembers)
      .where(and(eq(workspaceMembers.workspace_id, id), eq(workspaceMembers.email, email)));
    if (!super_admin && !(member?.is_admin && !member.disabled)) {
      throw new Forbidden(`only an admin of workspace ${id.slice(0, 60)} or a super admin can bring it back`);
    }
    if (!workspace) throw new NotFound(`workspace ${id.slice(0, 60)}`);
    if (!workspace.archived) throw new BadRequest(`workspace ${id} is not archived`);
    await tx.update(workspaces).set({ archived: false }).where(eq(workspaces.id, id));
    tx.afterCommit(() => {
      forgetPlaces(app);
      reopen(app, id);
    });
  });
}

/**
 * Deletes a workspace with everything in it: jobs that run are canceled, rows go from every table, files from the
 * server's disk. What is in a bucket is the bucket's owner's. The rows of its audit log are nobody's to delete before
 * their time: they stay under a name that no workspace can have. When the server ends meanwhile, the workspace is
 * archived and partly empty, and can be deleted again.
 * @throws NotFound, BadRequest for the super admins' workspace
 */
export async function deleteWorkspace(ctx: UserContext, id: string): Promise<void> {
  const { app } = ctx;
  refuseSpecial(id, "deleted");
  const [workspace] = await app.db.read.select().from(workspaces).where(eq(workspaces.id, id));
  if (!workspace) throw new NotFound(`workspace ${id.slice(0, 60)}`);
  closeMeanwhile(app, id, "is being deleted");
  try {
    await deleteContents(ctx, id);
  } catch (cause) {
    close(app, id, "is being deleted");
    throw cause;
  }
  close(app, id, "was deleted");
  await removeFiles(app, workspace.storage_folder ?? id);
}

/** All of it that the database has. */
async function deleteContents(ctx: UserContext, id: string): Promise<void> {
  const { app } = ctx;
  await app.db.write(async (tx) => {
    await holdAlone(tx, id);
    await tx.update(workspaces).set({ archived: true }).where(eq(workspaces.id, id));
    tx.afterCommit(() => forgetPlaces(app));
  });
  await untilHeard(app, id);
  await endJobs(ctx, id, "the workspace was deleted", "unfinished");
  await untilEnded(app, id, STOP_MS);
  await deleteEnded(ctx, id);
  // Not by `ctx.write`, whose row would be the deleted workspace's own.
  await app.db.write(async (tx) => {
    await holdAlone(tx, id);
    const hashes = await boundTokens(tx, id);
    await removeEndpoints(tx, id);
    await deleteRows(tx, app.db.dialect, id, ["audit_log"]);
    await tx
      .update(auditLog)
      .set({ workspace_id: `deleted/${id}` })
      .where(eq(auditLog.workspace_id, id));
    await tx.delete(workspaces).where(eq(workspaces.id, id));
    await recordAudit(tx, {
      timestamp: app.clock(),
      workspace_id: "global",
      username: ctx.username,
      email: ctx.caller.identity.email,
      audit: { operation: "workspaces.delete", action_kind: "Delete" },
      resource: id,
      parameters: undefined,
    });
    tx.afterCommit(() => forgetWorkspace(app, id, hashes));
  });
}

/** In pieces, so that whoever else writes waits for milliseconds: a workspace may have had millions of jobs. */
async function deleteEnded({ app }: UserContext, id: string): Promise<void> {
  const ended = and(eq(jobs.workspace_id, id), eq(jobs.state, "completed"));
  for (;;) {
    const some = await app.db.read.select({ id: jobs.id }).from(jobs).where(ended).limit(AT_ONCE);
    if (some.length === 0) return;
    const ids = some.map((job) => job.id);
    await app.db.write((tx) => deleteJobs(tx, app.db.dialect, ids));
    await new Promise((resolve) => setImmediate(resolve));
  }
}
