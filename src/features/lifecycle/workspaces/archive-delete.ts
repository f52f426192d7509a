/** A workspace is archived, brought back, or deleted. */
import { and, eq, getTableName } from "drizzle-orm";
import { BadRequest, Forbidden, NotFound } from "../../../lib/errors.ts";
import type { App, UserContext, WorkspaceContext } from "../../../platform/app/context.ts";
import { jobs } from "../../../platform/queue/tables.ts";
import { recordAudit } from "../../signals/audit/service.ts";
import { forgetMembers } from "../../tenancy/people/members.ts";
import { tokens } from "../../tenancy/tokens/tables.ts";
import { close, closeMeanwhile, holdAlone, reopen, untilHeard } from "../../tenancy/workspaces/gate.ts";
import { removeStorageFolder } from "../../tenancy/workspaces/storage-folder.ts";
import { workspaceMembers, workspaces } from "../../tenancy/workspaces/tables.ts";
import { type Asker, actorIn } from "../resumable/actor.ts";
import { refuseUnfinished, resumable } from "../resumable/service.ts";
import { awaitJobsEnded, cancelJobs } from "./end-jobs.ts";
import { invalidateWorkspace, workspaceTokens } from "./invalidate.ts";
import { refuseSpecial } from "./service.ts";
import { deleteJobs, deleteRows, moveRows, tablesOfWorkspaces } from "./workspace-rows.ts";

/** How long jobs that were asked to stop may take to do so before their rows go all the same. */
const STOP_MS = 10_000;
export const ARCHIVED = "is archived";
const DELETED = "is being deleted";

interface Ending extends Asker {
  workspace_id: string;
}

const archiving = resumable<Ending>("archiving", {
  hold: (app, { workspace_id }) => closeMeanwhile(app, workspace_id, ARCHIVED),
  async finish(app, { workspace_id, ...by }) {
    await cancelJobs(
      actorIn(app, workspace_id, by),
      workspace_id,
      "the workspace was archived",
      "unfinished",
    );
    close(app, workspace_id, ARCHIVED);
  },
});

/**
 * Nobody gets into the workspace any more, and nothing begins in it. What has not ended is canceled: a job that waits
 * for its time would else begin years later, when the workspace is brought back. Should this process end meanwhile, the
 * next one goes on: until then nothing of it begins (`prepare` of the worker, and the claim).
 * @throws BadRequest for the super admins' workspace, and while something else becomes of it
 */
export async function archiveWorkspace(ctx: WorkspaceContext): Promise<void> {
  const { app, caller } = ctx;
  const id = caller.member.workspace_id;
  refuseSpecial(id, "archived");
  await refuseUnfinished(app.db.read, id);
  closeMeanwhile(app, id, ARCHIVED);
  const operation = await ctx
    .write({ resource: id }, async (tx) => {
      await holdAlone(tx, id);
      await tx.update(workspaces).set({ archived: true }).where(eq(workspaces.id, id));
      tx.afterCommit(() => noteArchived(app, id));
      const { email } = caller.identity;
      return archiving.begin(app, tx, id, { workspace_id: id, username: ctx.username, email });
    })
    .catch((cause) => {
      reopen(app, id);
      throw cause;
    });
  await archiving.run(app, operation);
}

/** After the commit: drops what is cached of who gets in, and of what leads there. */
function noteArchived(app: App, id: string): void {
  forgetMembers(app);
  for (const { on } of app.features) on?.workspaceArchived?.(app, id);
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
    await refuseUnfinished(tx, id);
    await tx.update(workspaces).set({ archived: false }).where(eq(workspaces.id, id));
    tx.afterCommit(() => {
      noteArchived(app, id);
      reopen(app, id);
    });
  });
}

/**
 * Deletes a workspace with everything in it: jobs that run are canceled, rows go from every table, files from the
 * server's disk. What is in a bucket is the bucket's owner's. The rows of its audit log are nobody's to delete before
 * their time: they stay under a name that no workspace can have. When the server ends meanwhile, the workspace is
 * archived and partly empty, and the next start goes on.
 * @throws NotFound, BadRequest for the super admins' workspace, and while something else becomes of it
 */
export async function deleteWorkspace(ctx: UserContext, id: string): Promise<void> {
  const { app } = ctx;
  refuseSpecial(id, "deleted");
  const [workspace] = await app.db.read.select().from(workspaces).where(eq(workspaces.id, id));
  if (!workspace) throw new NotFound(`workspace ${id.slice(0, 60)}`);
  await refuseUnfinished(app.db.read, id);
  closeMeanwhile(app, id, DELETED);
  const operation = await app.db
    .write(async (tx) => {
      await holdAlone(tx, id);
      await tx.update(workspaces).set({ archived: true }).where(eq(workspaces.id, id));
      tx.afterCommit(() => noteArchived(app, id));
      const { email } = ctx.caller.identity;
      return deleting.begin(app, tx, id, { workspace_id: id, username: ctx.username, email });
    })
    .catch((cause) => {
      if (workspace.archived) close(app, id, ARCHIVED);
      else reopen(app, id);
      throw cause;
    });
  await deleting.run(app, operation);
}

const deleting = resumable<Ending>("deletion", {
  hold: (app, { workspace_id }) => closeMeanwhile(app, workspace_id, DELETED),
  async finish(app, { workspace_id: id, ...by }) {
    const [workspace] = await app.db.read.select().from(workspaces).where(eq(workspaces.id, id));
    if (!workspace) return;
    await untilHeard(app, id);
    await cancelJobs(actorIn(app, id, by), id, "the workspace was deleted", "unfinished");
    await awaitJobsEnded(app, id, STOP_MS);
    await deleteJobs(app.db, eq(jobs.workspace_id, id));
    const declared = app.features.flatMap(({ tablesDeletedLast = [] }) =>
      tablesDeletedLast.map(getTableName),
    );
    const last = [...DELETED_LAST, ...declared];
    for (const table of await tablesOfWorkspaces(app.db)) {
      if (!last.includes(table)) await deleteRows(app.db, table, id);
    }
    await moveRows(app.db, "audit_log", id, `deleted/${id}`);
    await removeStorageFolder(app, workspace.storage_folder ?? id);
    await deleteLast(app, id, by);
    close(app, id, "was deleted");
  },
});

/** Tables that are emptied in another way, or together with the workspace itself. */
const DELETED_LAST = ["audit_log", "jobs", "tokens"];

async function deleteLast(app: App, id: string, { username, email }: Asker): Promise<void> {
  await app.db.write(async (tx) => {
    await holdAlone(tx, id);
    const hashes = await workspaceTokens(tx, id);
    await tx.delete(tokens).where(eq(tokens.workspace_id, id));
    for (const { on } of app.features) await on?.workspaceDeleted?.(tx, id);
    await tx.delete(workspaces).where(eq(workspaces.id, id));
    await recordAudit(tx, {
      timestamp: app.clock(),
      workspace_id: "global",
      username,
      email,
      audit: { operation: "workspaces.delete", action_kind: "Delete" },
      resource: id,
      parameters: undefined,
    });
    tx.afterCommit(() => invalidateWorkspace(app, id, hashes));
  });
}
