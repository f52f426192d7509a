/**
 * Archives, restores and deletes workspaces.
 * How a workspace is deleted or renamed (`rename-workspace.ts`), in batches that a restart resumes:
 * - The gate (tenancy/workspaces/gate.ts) blocks new jobs on all servers. `awaitAllServers` is called before running
 *   jobs are canceled, `lockWorkspace` in the transaction that closes the workspace, and `requireOpenWorkspace` in
 *   every transaction that stores a job.
 * - `workspace-rows.ts` finds its tables by their column `workspace_id` (or `job_id`) in the database, so new tables
 *   are included.
 * - `invalidate.ts` invalidates all caches of the workspace, on all servers.
 * - A new key or id re-encrypts the columns that features declare (../keys/). Values encrypted before the rotation
 *   and stored after it are found by runs/arguments/stale-ciphertext.ts.
 */
import { and, eq, getTableName } from "drizzle-orm";
import { BadRequest, Forbidden, NotFound } from "../../../lib/errors.ts";
import type { App, UserContext, WorkspaceContext } from "../../../platform/app/context.ts";
import { jobs } from "../../../platform/queue/tables.ts";
import { createActorContext, type Requester } from "../../signals/audit/actor.ts";
import { recordAudit } from "../../signals/audit/service.ts";
import { invalidateMembers } from "../../tenancy/people/members.ts";
import { defineResumable, requireNoOperation } from "../../tenancy/resumable/service.ts";
import { tokens } from "../../tenancy/tokens/tables.ts";
import {
  awaitAllServers,
  closeWorkspace,
  closeWorkspaceTemporarily,
  lockWorkspace,
  reopenWorkspace,
} from "../../tenancy/workspaces/gate.ts";
import { removeStorageFolder } from "../../tenancy/workspaces/storage-folder.ts";
import { workspaceMembers, workspaces } from "../../tenancy/workspaces/tables.ts";
import { awaitJobsEnded, cancelJobs } from "./cancel-jobs.ts";
import { invalidateWorkspace, listWorkspaceTokens } from "./invalidate.ts";
import { requireOrdinaryWorkspace } from "./service.ts";
import { deleteJobs, deleteRows, listWorkspaceTables, moveRows } from "./workspace-rows.ts";

/** How long running jobs get to stop before their rows are deleted. */
const STOP_TIMEOUT_MS = 10_000;
export const ARCHIVED_REASON = "is archived";
const DELETED_REASON = "is being deleted";

interface EndRequest extends Requester {
  workspace_id: string;
}

const workspaceArchival = defineResumable<EndRequest>("archiving", {
  hold: (app, { workspace_id }) => closeWorkspaceTemporarily(app, workspace_id, ARCHIVED_REASON),
  async finish(app, { workspace_id, ...by }) {
    await cancelJobs(
      createActorContext(app, workspace_id, by),
      workspace_id,
      "the workspace was archived",
      "unfinished",
    );
    closeWorkspace(app, workspace_id, ARCHIVED_REASON);
  },
});

/**
 * Archives the workspace: access is refused and unfinished jobs are canceled, since a scheduled job would otherwise
 * start when the workspace is restored, perhaps years later. If this process ends, another resumes the cancellation.
 * Until then the worker (`prepare`) and the claim keep the jobs from starting.
 * @throws BadRequest for the super admins' workspace, and while another operation on it is unfinished
 */
export async function archiveWorkspace(ctx: WorkspaceContext): Promise<void> {
  const { app, caller } = ctx;
  const id = caller.member.workspace_id;
  requireOrdinaryWorkspace(id, "archived");
  await requireNoOperation(app.db.read, id);
  closeWorkspaceTemporarily(app, id, ARCHIVED_REASON);
  const operation = await ctx
    .write({ resource: id }, async (tx) => {
      await lockWorkspace(tx, id);
      await tx.update(workspaces).set({ archived: true }).where(eq(workspaces.id, id));
      tx.afterCommit(() => noteArchived(app, id));
      const { email } = caller.identity;
      return workspaceArchival.start(app, tx, id, { workspace_id: id, username: ctx.username, email });
    })
    .catch((cause) => {
      reopenWorkspace(app, id);
      throw cause;
    });
  await workspaceArchival.run(app, operation);
}

/** Called after the commit: invalidates cached members, and caches that features keep of the workspace. */
function noteArchived(app: App, id: string): void {
  invalidateMembers(app);
  for (const { on } of app.features) on?.workspaceArchived?.(app, id);
}

/**
 * Restores an archived workspace; for its admins and super admins.
 * @throws Forbidden, also if there is no such workspace, so that strangers learn nothing; BadRequest if it is not
 * archived
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
    await requireNoOperation(tx, id);
    await tx.update(workspaces).set({ archived: false }).where(eq(workspaces.id, id));
    tx.afterCommit(() => {
      noteArchived(app, id);
      reopenWorkspace(app, id);
    });
  });
}

/**
 * Deletes a workspace: cancels running jobs, then deletes its rows from all tables and its files from the server's
 * disk. Objects in a bucket stay. Audit rows are kept for their retention period, under a name that no workspace can
 * have. If the server stops in between, the workspace stays archived and partly deleted until the next start resumes.
 * @throws NotFound, BadRequest for the super admins' workspace, and while another operation on it is unfinished
 */
export async function deleteWorkspace(ctx: UserContext, id: string): Promise<void> {
  const { app } = ctx;
  requireOrdinaryWorkspace(id, "deleted");
  const [workspace] = await app.db.read.select().from(workspaces).where(eq(workspaces.id, id));
  if (!workspace) throw new NotFound(`workspace ${id.slice(0, 60)}`);
  await requireNoOperation(app.db.read, id);
  closeWorkspaceTemporarily(app, id, DELETED_REASON);
  const operation = await app.db
    .write(async (tx) => {
      await lockWorkspace(tx, id);
      await tx.update(workspaces).set({ archived: true }).where(eq(workspaces.id, id));
      tx.afterCommit(() => noteArchived(app, id));
      const { email } = ctx.caller.identity;
      return workspaceDeletion.start(app, tx, id, { workspace_id: id, username: ctx.username, email });
    })
    .catch((cause) => {
      if (workspace.archived) closeWorkspace(app, id, ARCHIVED_REASON);
      else reopenWorkspace(app, id);
      throw cause;
    });
  await workspaceDeletion.run(app, operation);
}

const workspaceDeletion = defineResumable<EndRequest>("deletion", {
  hold: (app, { workspace_id }) => closeWorkspaceTemporarily(app, workspace_id, DELETED_REASON),
  async finish(app, { workspace_id: id, ...by }) {
    const [workspace] = await app.db.read.select().from(workspaces).where(eq(workspaces.id, id));
    if (!workspace) return;
    await awaitAllServers(app, id);
    await cancelJobs(createActorContext(app, id, by), id, "the workspace was deleted", "unfinished");
    await awaitJobsEnded(app, id, STOP_TIMEOUT_MS);
    await deleteJobs(app.db, eq(jobs.workspace_id, id));
    const declared = app.features.flatMap(({ tablesDeletedLast = [] }) =>
      tablesDeletedLast.map(getTableName),
    );
    const last = [...DELETED_LAST, ...declared];
    for (const table of await listWorkspaceTables(app.db)) {
      if (!last.includes(table)) await deleteRows(app.db, table, id);
    }
    await moveRows(app.db, "audit_log", id, `deleted/${id}`);
    await removeStorageFolder(app, workspace.storage_folder ?? id);
    await deleteWorkspaceRow(app, id, by);
    closeWorkspace(app, id, "was deleted");
  },
});

/** Tables that are emptied separately, or together with the workspace itself. */
const DELETED_LAST = ["audit_log", "jobs", "tokens"];

async function deleteWorkspaceRow(app: App, id: string, { username, email }: Requester): Promise<void> {
  await app.db.write(async (tx) => {
    await lockWorkspace(tx, id);
    const hashes = await listWorkspaceTokens(tx, id);
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
