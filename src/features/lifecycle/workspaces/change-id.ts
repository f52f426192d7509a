/**
 * A workspace gets another id, and everything that is kept of it follows, in pieces: between two of them others are served.
 *
 * Until the first transaction nothing has changed. It seals what is sealed for the new id, makes a workspace of that id,
 * and archives both: nobody gets into either, whatever becomes of this process, until the last transaction opens the new
 * one. What was queued is held meanwhile.
 */
import { and, eq, isNull, type SQL, sql } from "drizzle-orm";
import { apart, startsWith } from "../../../database/conditions.ts";
import type { Tx } from "../../../database/database.ts";
import { untilNone } from "../../../lib/async/batches.ts";
import { BadRequest } from "../../../lib/errors.ts";
import type { App, WorkspaceContext } from "../../../platform/app/context.ts";
import { queuedSlices } from "../../../platform/queue/queued-slices.ts";
import { type Job, jobs } from "../../../platform/queue/tables.ts";
import { recordAudit } from "../../signals/audit/service.ts";
import { close, closeMeanwhile, holdAlone, reopen, untilHeard } from "../../tenancy/workspaces/gate.ts";
import { workspaceSettings, workspaces } from "../../tenancy/workspaces/tables.ts";
import { storeUsage } from "../../tenancy/workspaces/usage.ts";
import { prepareExchange } from "../keys/key-rotation.ts";
import type { Asker } from "../resumable/actor.ts";
import { refuseUnfinished, resumable } from "../resumable/service.ts";
import { resumableOperations } from "../resumable/tables.ts";
import { awaitJobsEnded, cancelJobs } from "./end-jobs.ts";
import { invalidateWorkspace, workspaceTokens } from "./invalidate.ts";
import { checkName, checkNewId, refuseSpecial, refuseTaken } from "./service.ts";
import { deleteRows, moveRows, tablesOfWorkspaces } from "./workspace-rows.ts";

/** How long jobs that were asked to stop may take to do so before they count as canceled. */
const STOP_MS = 5_000;

interface Change extends Asker {
  from: string;
  to: string;
  /** Everything stands under the new id, which is open: held jobs are left to be queued. */
  hasMoved: boolean;
}

const reasonOf = ({ to }: Change) => `the workspace was given the id ${to}`;

/**
 * What runs at that moment is canceled: its token, its files and what it was told all name the old id. What waits in
 * the queue moves along and runs under the new id. Files stay in the folder they are in, which the workspace remembers.
 * @throws BadRequest for a bad or taken id, for the super admins' workspace, and while something else becomes of it
 */
export async function changeWorkspaceId(
  ctx: WorkspaceContext,
  body: { new_id: string; new_name: string | undefined },
): Promise<void> {
  const { app, caller } = ctx;
  const from = caller.member.workspace_id;
  const to = checkNewId(caller.identity, body.new_id);
  refuseSpecial(from, "given another id");
  if (to === from) throw new BadRequest(`body field \`new_id\`: ${to} is the id that the workspace has`);
  await refuseTaken(app.db.read, to);
  await refuseUnfinished(app.db.read, from);
  const name = body.new_name === undefined ? {} : { name: checkName("new_name", body.new_name) };
  const change = { from, to, hasMoved: false, username: ctx.username, email: caller.identity.email };
  hold(app, change);
  const operation = await begin(ctx, change, name).catch((cause) => {
    reopen(app, from);
    reopen(app, to);
    throw cause;
  });
  await changing.run(app, operation);
}

function hold(app: App, { from, to, hasMoved }: Change): void {
  if (hasMoved) return;
  closeMeanwhile(app, from, `is being given the id ${to}: try again with that one`, "moving");
  closeMeanwhile(app, to, `is being moved here from ${from}: try again later`, "moving");
}

/** Up to the first transaction, which decides. */
async function begin(ctx: WorkspaceContext, change: Change, name: { name?: string }) {
  const { app } = ctx;
  const { from, to } = change;
  await untilHeard(app, from);
  await cancelJobs(ctx, from, reasonOf(change), "running");
  await awaitJobsEnded(app, from, STOP_MS);
  await storeUsage(app);
  const exchange = await prepareExchange(app, from, { workspace_id: to });
  return app.db.write(async (tx) => {
    await holdAlone(tx, from, to);
    await refuseTaken(tx, to);
    for (const { on } of app.features) await on?.workspaceMoving?.(tx, from, to);
    await exchange.store(tx);
    const old = eq(workspaces.id, from);
    const [workspace] = await tx.update(workspaces).set({ archived: true }).where(old).returning();
    const storage_folder = workspace!.storage_folder ?? from;
    await tx.insert(workspaces).values({ ...workspace!, ...name, id: to, storage_folder });
    const hashes = await workspaceTokens(tx, from);
    await followDeployments(tx, from, to);
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
    return changing.begin(app, tx, from, change);
  });
}

const changing = resumable<Change>("the change of id", {
  hold,
  async finish(app, change) {
    const { from, to } = change;
    if (!change.hasMoved) {
      for await (const slice of queuedSlices(app.db.read)) await holdQueued(app, change, slice);
      // What a worker has just claimed is about to be held as well.
      await awaitJobsEnded(app, from, STOP_MS);
      await endRunning(app, change);
      await deleteRows(app.db, "job_cache", from);
      for (const table of await tablesOfWorkspaces(app.db)) {
        await moveRows(app.db, table, from, to, table === "jobs" ? keysMoved(change) : undefined);
      }
      await open(app, change);
    }
    await untilNone((most) => releaseHeld(app, to, most));
    app.queue.wake();
  },
});

/** What has begun since it was last looked, or did not stop: it counts as canceled, whatever becomes of it. */
async function endRunning(app: App, change: Change): Promise<void> {
  const running = and(apart(eq(jobs.workspace_id, change.from)), sql`${jobs.state} = 'running'`);
  await untilNone(async (most) => {
    const some = await app.db.read.select({ id: jobs.id }).from(jobs).where(running).limit(most);
    if (some.length > 0) await app.db.write((tx) => endAsCanceled(app, tx, change, inIds(some)));
    return some.length;
  }, MOST_ENDED);
}

/** Jobs that are ended in one transaction. */
const MOST_ENDED = 500;

const inIds = (some: readonly Pick<Job, "id">[]) =>
  sql`${jobs.id} IN (${sql.join(
    some.map(({ id }) => sql`${id}`),
    sql`, `,
  )})`;

async function endAsCanceled(app: App, tx: Tx, change: Change, which: SQL): Promise<void> {
  const abandoned = { workspace_id: change.from, which, reason: reasonOf(change), by: change.username };
  for (const { on } of app.features) await on?.jobsAbandoned?.(app, tx, abandoned);
}

/** Queued jobs wait outside of the queue. A step belongs to the run of its flow, which has ended. */
async function holdQueued(app: App, change: Change, slice: SQL): Promise<void> {
  const its = and(slice, apart(eq(jobs.workspace_id, change.from)));
  await untilNone(async (most) => {
    const some = await app.db.read
      .select({ id: jobs.id, flow_step_id: jobs.flow_step_id })
      .from(jobs)
      .where(its)
      .limit(most);
    const steps = some.filter(({ flow_step_id }) => flow_step_id !== null);
    if (some.length > 0) {
      await app.db.write(async (tx) => {
        if (steps.length > 0) await endAsCanceled(app, tx, change, inIds(steps));
        await tx
          .update(jobs)
          .set({ state: "held" })
          .where(and(inIds(some), isNull(jobs.flow_step_id), eq(jobs.state, "queued")));
      });
    }
    return some.length;
  }, MOST_ENDED);
}

async function releaseHeld(app: App, workspace_id: string, most: number): Promise<number> {
  const held = sql`${jobs.workspace_id} = ${workspace_id} AND ${jobs.state} = 'held'`;
  const some = await app.db.read.select({ id: jobs.id }).from(jobs).where(held).limit(most);
  if (some.length > 0) {
    await app.db.write((tx) =>
      tx
        .update(jobs)
        .set({ state: "queued" })
        .where(and(inIds(some), eq(jobs.state, "held"))),
    );
  }
  return some.length;
}

/** Keys of concurrency begin with the workspace's id where the script names none. */
function keysMoved({ from, to }: Change): SQL {
  const key = jobs.concurrency_key;
  return sql`, concurrency_key = CASE WHEN ${startsWith(key, `${from}/`)}
    THEN ${to} || substr(${key}, ${from.length + 1}) ELSE ${key} END`;
}

/** The last transaction: the new id is the workspace's, and nothing has the old one. */
async function open(app: App, change: Change): Promise<void> {
  const { from, to } = change;
  await app.db.write(async (tx) => {
    await holdAlone(tx, from, to);
    const hashes = await workspaceTokens(tx, to);
    await tx.delete(workspaces).where(eq(workspaces.id, from));
    await tx.update(workspaces).set({ archived: false }).where(eq(workspaces.id, to));
    await tx
      .update(resumableOperations)
      .set({ details: { ...change, hasMoved: true } })
      .where(eq(resumableOperations.subject, from));
    tx.afterCommit(() => {
      invalidateWorkspace(app, from, hashes);
      invalidateWorkspace(app, to, []);
      reopen(app, to);
      close(app, from, `has the id ${to} now`);
    });
  });
}

/** Other workspaces that are deployed to this one are so still. */
async function followDeployments(tx: Tx, from: string, to: string): Promise<void> {
  for (const { workspace_id, settings } of await tx.select().from(workspaceSettings)) {
    if (settings.deploy_to !== from) continue;
    await tx
      .update(workspaceSettings)
      .set({ settings: { ...settings, deploy_to: to } })
      .where(eq(workspaceSettings.workspace_id, workspace_id));
  }
}
