/**
 * The gate decides whether a workspace accepts new jobs. It is closed for archived and deleted workspaces, and while an
 * id changes. Calls admitted earlier are stopped here, in the transaction that inserts their job.
 */
import { and, eq, sql } from "drizzle-orm";
import { prepareBatchedStatement, type Tx } from "../../../database/database.ts";
import { memoizePerApp } from "../../../lib/async/per-app.ts";
import { BadRequest } from "../../../lib/errors.ts";
import type { App } from "../../../platform/app/context.ts";
import { defineInvalidation } from "../../../platform/cluster/cache-invalidation.ts";
import { listOtherLiveWorkers } from "../../../platform/cluster/heartbeat.ts";
import { defineBarrier } from "../../../platform/cluster/request-reply.ts";
import { workspaces } from "./tables.ts";

interface ClosedState {
  /** The reason, as the end of a sentence, such as `is archived`. */
  why: string;
  /** This server is making the change, so messages from others do not reopen it. */
  isUnderWay: boolean;
  /** The workspace gets a new id: queued jobs are held until then instead of being canceled. */
  isMoving: boolean;
}

/** Closed workspaces by id; usually empty. */
const closedWorkspaces = memoizePerApp<App, Map<string, ClosedState>>(() => new Map());

/** Closes a workspace on all servers. `why` ends the error message, such as `is archived`. */
export const closeWorkspace = defineInvalidation<[workspace_id: string, why: string, moving?: "moving"]>(
  "closed",
  {
    forget: (app, workspace_id, why, moving) =>
      void closedWorkspaces(app).set(workspace_id, {
        why,
        isUnderWay: false,
        isMoving: moving !== undefined,
      }),
    forgetAll() {},
  },
);

/** Closes a workspace while this server archives, deletes or moves it, until it is closed for good or reopened. */
export function closeWorkspaceTemporarily(
  app: App,
  workspace_id: string,
  why: string,
  moving?: "moving",
): void {
  closeWorkspace(app, workspace_id, why, moving);
  closedWorkspaces(app).get(workspace_id)!.isUnderWay = true;
}

/**
 * Returns what happens to a queued job of the workspace that is about to start; undefined: it starts. On PostgreSQL the
 * claim itself also skips archived and moving workspaces, even if this server missed the message.
 */
export function getQueuedJobPolicy(app: App, workspace_id: string): "canceled" | "held" | undefined {
  const closed = closedWorkspaces(app).get(workspace_id);
  if (!closed) return undefined;
  return closed.isMoving ? "held" : "canceled";
}

/** Reopens a workspace on all servers, or frees its id for another workspace. */
export const reopenWorkspace = defineInvalidation<[workspace_id: string]>("reopened", {
  forget: (app, workspace_id) => void closedWorkspaces(app).delete(workspace_id),
  // Safe after missed messages: access to archived and deleted workspaces is refused by the database row anyway.
  forgetAll(app) {
    for (const [workspace_id, { isUnderWay }] of closedWorkspaces(app)) {
      if (!isUnderWay) closedWorkspaces(app).delete(workspace_id);
    }
  },
});

const openWorkspaceStatement = prepareBatchedStatement<{ id: string }, { id: string }[]>(
  (q) =>
    q
      .select({ id: workspaces.id })
      .from(workspaces)
      .where(and(eq(workspaces.id, sql.placeholder("id")), eq(workspaces.archived, false))),
  ({ id }) => [{ id }],
);

const workspaceLockName = (workspace_id: string) => `workspace ${workspace_id}`;

/**
 * Throws if the workspace is archived, deleted or being renamed. Call it in the transaction that inserts a job.
 *
 * In-memory state is not enough with several servers, because this one may be paused between the check and its commit.
 * On PostgreSQL the transaction therefore takes a shared advisory lock on the workspace and then reads its row.
 * `lockWorkspace` takes the lock exclusively. So an insert either commits before the change, which then sees the job,
 * or waits and sees the closed workspace. On SQLite transactions are serial and the only process knows what is closed.
 * @returns undefined on SQLite, where the check is synchronous
 * @throws BadRequest if the workspace is closed
 */
export function requireOpenWorkspace(app: App, tx: Tx, workspace_id: string): Promise<void> | undefined {
  const closed = closedWorkspaces(app).get(workspace_id);
  if (closed) throw new BadRequest(`workspace ${workspace_id} ${closed.why}`);
  return app.db.channel && requireOpenRow(tx, workspace_id);
}

async function requireOpenRow(tx: Tx, workspace_id: string): Promise<void> {
  await tx.lockShared(workspaceLockName(workspace_id));
  const found = await tx.exec(openWorkspaceStatement, { id: workspace_id });
  if (found.length === 0)
    throw new BadRequest(`workspace ${workspace_id} is archived, was deleted, or has another id now`);
}

/**
 * Locks workspaces exclusively until the end of the transaction: no transaction that calls `requireOpenWorkspace` can
 * commit meanwhile.
 */
export async function lockWorkspace(tx: Tx, ...workspace_ids: string[]): Promise<void> {
  // Always in the same order, to avoid deadlocks.
  for (const id of workspace_ids.sort()) await tx.lock(workspaceLockName(id));
}

/** Cluster barrier: servers acknowledge once writes they admitted earlier are committed or rejected. */
const announceClosed = defineBarrier<[workspace_id: string, why: string, isMoving: string]>(
  "close",
  async (app, workspace_id, why, isMoving) => {
    closedWorkspaces(app).set(workspace_id, { why, isUnderWay: false, isMoving: isMoving === "true" });
    await app.db.channel?.awaitWrites();
  },
);

/**
 * Waits until every live server has acknowledged that the workspace is closed, for at most one lease. After that its
 * running jobs can be ended. A server that misses the deadline is harmless: its inserts fail in `requireOpenWorkspace`.
 */
export async function awaitAllServers(app: App, workspace_id: string): Promise<void> {
  const closed = closedWorkspaces(app).get(workspace_id);
  if (!app.db.channel || !closed) return;
  const { lease_s } = app.config;
  await announceClosed(
    app,
    () => listOtherLiveWorkers(app),
    lease_s * 1000,
    workspace_id,
    closed.why,
    String(closed.isMoving),
  );
  await app.db.channel.awaitWrites();
}
