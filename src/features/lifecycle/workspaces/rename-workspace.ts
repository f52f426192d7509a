/**
 * Changes the id of a workspace. All its rows are updated in batches, so that other requests are served in between.
 * Nothing changes before the first transaction, which creates a workspace with the new id and closes both. Even if
 * this process stops, both stay closed until the last transaction opens the new one. Secrets are re-encrypted for the
 * new id first. Queued jobs are held in the meantime.
 */
import { and, eq, isNull, type SQL, sql } from "drizzle-orm";
import { preventIndexUse, startsWith } from "../../../database/conditions.ts";
import type { Tx } from "../../../database/database.ts";
import { drainInBatches } from "../../../lib/async/batches.ts";
import { BadRequest } from "../../../lib/errors.ts";
import type { App, WorkspaceContext } from "../../../platform/app/context.ts";
import { sliceQueue } from "../../../platform/queue/queued-slices.ts";
import { type Job, jobs } from "../../../platform/queue/tables.ts";
import type { Requester } from "../../signals/audit/actor.ts";
import { recordAudit } from "../../signals/audit/service.ts";
import { defineResumable, requireNoOperation } from "../../tenancy/resumable/service.ts";
import { resumableOperations } from "../../tenancy/resumable/tables.ts";
import {
  awaitAllServers,
  closeWorkspace,
  closeWorkspaceTemporarily,
  lockWorkspace,
  reopenWorkspace,
} from "../../tenancy/workspaces/gate.ts";
import { createKey, readCurrentKey } from "../../tenancy/workspaces/secrets.ts";
import { workspaceSettings, workspaces } from "../../tenancy/workspaces/tables.ts";
import { flushUsage } from "../../tenancy/workspaces/usage.ts";
import { reencryptWorkspace } from "../keys/key-rotation.ts";
import { awaitJobsEnded, cancelJobs } from "./cancel-jobs.ts";
import { invalidateWorkspace, listWorkspaceTokens } from "./invalidate.ts";
import {
  parseNewWorkspaceId,
  parseWorkspaceName,
  requireFreeId,
  requireOrdinaryWorkspace,
} from "./service.ts";
import { deleteRows, listWorkspaceTables, moveRows } from "./workspace-rows.ts";

/** How long running jobs get to stop before they are stored as canceled. */
const STOP_TIMEOUT_MS = 5_000;

interface IdChange extends Requester {
  from: string;
  to: string;
  /** True once all rows have the new id and it is open; only held jobs remain to be queued. */
  hasMoved: boolean;
}

const cancelReason = ({ to }: IdChange) => `the workspace was given the id ${to}`;

/**
 * Changes the id. Running jobs are canceled, since their token, files and context contain the old id. Queued jobs move
 * along and run under the new id. Files stay in their folder, which the workspace remembers.
 * @throws BadRequest for an invalid or used id, for the super admins' workspace, and while another operation is
 * unfinished
 */
export async function changeWorkspaceId(
  ctx: WorkspaceContext,
  body: { new_id: string; new_name: string | undefined },
): Promise<void> {
  const { app, caller } = ctx;
  const from = caller.member.workspace_id;
  const to = parseNewWorkspaceId(caller.identity, body.new_id);
  requireOrdinaryWorkspace(from, "given another id");
  if (to === from) throw new BadRequest(`body field \`new_id\`: ${to} is already the id of the workspace`);
  await requireFreeId(app.db.read, to);
  await requireNoOperation(app.db.read, from);
  const name = body.new_name === undefined ? {} : { name: parseWorkspaceName("new_name", body.new_name) };
  const change = { from, to, hasMoved: false, username: ctx.username, email: caller.identity.email };
  closeBothIds(app, change);
  const operation = await startIdChange(ctx, change, name).catch((cause) => {
    reopenWorkspace(app, from);
    reopenWorkspace(app, to);
    throw cause;
  });
  await idChange.run(app, operation);
}

function closeBothIds(app: App, { from, to, hasMoved }: IdChange): void {
  if (hasMoved) return;
  closeWorkspaceTemporarily(app, from, `is being given the id ${to}: try again with that one`, "moving");
  closeWorkspaceTemporarily(app, to, `is being moved here from ${from}: try again later`, "moving");
}

/** Does everything up to the first transaction, which makes the change irrevocable. */
async function startIdChange(ctx: WorkspaceContext, change: IdChange, name: { name?: string }) {
  const { app } = ctx;
  const { from, to } = change;
  await awaitAllServers(app, from);
  await cancelJobs(ctx, from, cancelReason(change), "running");
  await awaitJobsEnded(app, from, STOP_TIMEOUT_MS);
  await flushUsage(app);
  return app.db.write(async (tx) => {
    await lockWorkspace(tx, from, to);
    await requireFreeId(tx, to);
    for (const { on } of app.features) await on?.workspaceMoving?.(tx, from, to);
    const { text } = await readCurrentKey(app, tx, from);
    const { wrapped: wrapped_key } = await createKey(app, to, text);
    const old = eq(workspaces.id, from);
    const [workspace] = await tx.update(workspaces).set({ archived: true }).where(old).returning();
    const storage_folder = workspace!.storage_folder ?? from;
    await tx.insert(workspaces).values({ ...workspace!, ...name, id: to, wrapped_key, storage_folder });
    const hashes = await listWorkspaceTokens(tx, from);
    await updateDeployTargets(tx, from, to);
    await recordAudit(tx, {
      timestamp: app.clock(),
      workspace_id: to,
      username: change.username,
      email: change.email,
      audit: { operation: "workspaces.change_workspace_id", action_kind: "Update" },
      resource: to,
      parameters: { old_id: from },
    });
    tx.afterCommit(() => invalidateWorkspace(app, from, hashes));
    return idChange.start(app, tx, from, change);
  });
}

const idChange = defineResumable<IdChange>("the change of id", {
  hold: closeBothIds,
  async finish(app, change) {
    const { from, to } = change;
    if (!change.hasMoved) {
      await reencryptForNewId(app, change);
      for await (const slice of sliceQueue(app.db.read)) await holdQueuedJobs(app, change, slice);
      // Jobs that a worker has just claimed are about to be held as well.
      await awaitJobsEnded(app, from, STOP_TIMEOUT_MS);
      await cancelRunning(app, change);
      await deleteRows(app.db, "job_cache", from);
      for (const table of await listWorkspaceTables(app.db)) {
        await moveRows(app.db, table, from, to, table === "jobs" ? renameConcurrencyKeys(change) : undefined);
      }
      await openRenamed(app, change);
    }
    await drainInBatches((limit) => releaseHeldJobs(app, to, limit));
    app.queue.wake();
  },
});

/** Re-encrypts all values for the new id: every ciphertext is bound to the id of its workspace. */
async function reencryptForNewId(app: App, { from, to }: IdChange): Promise<void> {
  const [before, after] = await Promise.all(
    [from, to].map(async (workspace_id) => ({
      workspace_id,
      key: await readCurrentKey(app, app.db.read, workspace_id),
    })),
  );
  await reencryptWorkspace(app, before!, after!);
}

/** Stores the remaining running jobs as canceled: those that started in the meantime or did not stop. */
async function cancelRunning(app: App, change: IdChange): Promise<void> {
  const running = and(preventIndexUse(eq(jobs.workspace_id, change.from)), sql`${jobs.state} = 'running'`);
  await drainInBatches(async (maximum) => {
    const some = await app.db.read.select({ id: jobs.id }).from(jobs).where(running).limit(maximum);
    if (some.length > 0) await app.db.write((tx) => markCanceled(app, tx, change, hasIdIn(some)));
    return some.length;
  }, BATCH_SIZE);
}

/** Jobs updated in one transaction. */
const BATCH_SIZE = 500;

const hasIdIn = (some: readonly Pick<Job, "id">[]) =>
  sql`${jobs.id} IN (${sql.join(
    some.map(({ id }) => sql`${id}`),
    sql`, `,
  )})`;

async function markCanceled(app: App, tx: Tx, change: IdChange, which: SQL): Promise<void> {
  const abandoned = { workspace_id: change.from, which, reason: cancelReason(change), by: change.username };
  for (const { on } of app.features) await on?.jobsAbandoned?.(app, tx, abandoned);
}

/** Sets queued jobs to `held`, which takes them out of the queue. Flow steps are canceled, since their flow run is. */
async function holdQueuedJobs(app: App, change: IdChange, slice: SQL): Promise<void> {
  const its = and(slice, preventIndexUse(eq(jobs.workspace_id, change.from)));
  await drainInBatches(async (maximum) => {
    const some = await app.db.read
      .select({ id: jobs.id, flow_step_id: jobs.flow_step_id })
      .from(jobs)
      .where(its)
      .limit(maximum);
    const steps = some.filter(({ flow_step_id }) => flow_step_id !== null);
    if (some.length > 0) {
      await app.db.write(async (tx) => {
        if (steps.length > 0) await markCanceled(app, tx, change, hasIdIn(steps));
        await tx
          .update(jobs)
          .set({ state: "held" })
          .where(and(hasIdIn(some), isNull(jobs.flow_step_id), eq(jobs.state, "queued")));
      });
    }
    return some.length;
  }, BATCH_SIZE);
}

async function releaseHeldJobs(app: App, workspace_id: string, maximum: number): Promise<number> {
  const held = sql`${preventIndexUse(eq(jobs.workspace_id, workspace_id))} AND ${jobs.state} = 'held'`;
  const some = await app.db.read.select({ id: jobs.id }).from(jobs).where(held).limit(maximum);
  if (some.length > 0) {
    await app.db.write((tx) =>
      tx
        .update(jobs)
        .set({ state: "queued" })
        .where(and(hasIdIn(some), eq(jobs.state, "held"))),
    );
  }
  return some.length;
}

/** Renames default concurrency keys, which begin with the workspace id; custom keys stay. */
function renameConcurrencyKeys({ from, to }: IdChange): SQL {
  const key = jobs.concurrency_key;
  return sql`, concurrency_key = CASE WHEN ${startsWith(key, `${from}/`)}
    THEN ${to} || substr(${key}, ${from.length + 1}) ELSE ${key} END`;
}

/** Commits the last transaction: deletes the old workspace row and opens the new one. */
async function openRenamed(app: App, change: IdChange): Promise<void> {
  const { from, to } = change;
  await app.db.write(async (tx) => {
    await lockWorkspace(tx, from, to);
    const hashes = await listWorkspaceTokens(tx, to);
    await tx.delete(workspaces).where(eq(workspaces.id, from));
    await tx.update(workspaces).set({ archived: false }).where(eq(workspaces.id, to));
    await tx
      .update(resumableOperations)
      .set({ details: { ...change, hasMoved: true } })
      .where(eq(resumableOperations.subject, from));
    tx.afterCommit(() => {
      invalidateWorkspace(app, from, hashes);
      invalidateWorkspace(app, to, []);
      reopenWorkspace(app, to);
      closeWorkspace(app, from, `has the id ${to} now`);
    });
  });
}

/** Updates `deploy_to` of other workspaces that are deployed to this one. */
async function updateDeployTargets(tx: Tx, from: string, to: string): Promise<void> {
  for (const { workspace_id, settings } of await tx.select().from(workspaceSettings)) {
    if (settings.deploy_to !== from) continue;
    await tx
      .update(workspaceSettings)
      .set({ settings: { ...settings, deploy_to: to } })
      .where(eq(workspaceSettings.workspace_id, workspace_id));
  }
}
