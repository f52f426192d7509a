/** A workspace gets another id, and everything that is kept of it follows, in one transaction. */
import { and, eq, isNotNull, or, sql } from "drizzle-orm";
import type { WorkspaceContext } from "../../context.ts";
import { startsWith } from "../../database/conditions.ts";
import type { Tx } from "../../database/database.ts";
import { BadRequest } from "../../errors.ts";
import { jobCache, jobs } from "../../queue/tables.ts";
import { recordAudit } from "../audit/service.ts";
import { forgetRuns } from "../flows/run/forget.ts";
import { refuseOverlapUnder } from "../http-triggers/places.ts";
import { canceledResult } from "../jobs/canceled.ts";
import { close, closeMeanwhile, holdAlone, reopen, untilHeard } from "./closed.ts";
import { endJobs, untilEnded } from "./end-jobs.ts";
import { moveRows } from "./everywhere.ts";
import { boundTokens, forgetWorkspace } from "./forget.ts";
import { prepareExchange } from "./key-rotation.ts";
import { checkName, checkNewId, refuseSpecial, refuseTaken } from "./service.ts";
import { workspaceSettings, workspaces } from "./tables.ts";
import { storeUsage } from "./usage.ts";

/** How long jobs that were asked to stop may take to do so before they count as canceled. */
const STOP_MS = 5_000;
/** Most parameters of one statement that both databases take with room to spare. */
const MOST_IDS = 1_000;

/**
 * What runs at that moment is canceled: its token, its files and what it was told all name the old id. What waits in
 * the queue moves along and runs under the new id. Files stay in the folder they are in, which the workspace remembers.
 * @throws BadRequest for a bad or taken id, and for the super admins' workspace
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
  const name = body.new_name === undefined ? {} : { name: checkName("new_name", body.new_name) };
  closeMeanwhile(app, from, `is being given the id ${to}: try again with that one`);
  try {
    const reason = `the workspace was given the id ${to}`;
    await untilHeard(app, from);
    await endJobs(ctx, from, reason, "running");
    await untilEnded(app, from, STOP_MS);
    await storeUsage(app);
    const exchange = await prepareExchange(app, from, { workspace_id: to });
    await app.db.write(async (tx) => {
      await holdAlone(tx, from, to);
      await refuseTaken(tx, to);
      await refuseOverlapUnder(tx, from, to);
      await cancelRunning(ctx, tx, from, reason);
      await exchange.store(tx);
      const hashes = await boundTokens(tx, from);
      await renameKeys(tx, from, to);
      await followDeployments(tx, from, to);
      await moveRows(tx, app.db.dialect, from, to);
      await tx
        .update(workspaces)
        .set({ id: to, ...name, storage_folder: sql`coalesce(${workspaces.storage_folder}, ${from})` })
        .where(eq(workspaces.id, from));
      // Not by `ctx.write`, whose row would stay with the old id.
      await recordAudit(tx, {
        timestamp: app.clock(),
        workspace_id: to,
        username: ctx.username,
        email: caller.identity.email,
        audit: { operation: "workspaces.change_workspace_id", action_kind: "Update" },
        resource: to,
        parameters: { old_id: from },
      });
      tx.afterCommit(() => {
        forgetWorkspace(app, from, hashes);
        reopen(app, to);
      });
    });
  } catch (cause) {
    reopen(app, from);
    throw cause;
  }
  close(app, from, `has the id ${to} now`);
  app.queue.wake();
}

/** What has begun since it was last looked, or did not stop: it counts as canceled, whatever becomes of it. */
async function cancelRunning(
  { app, username }: WorkspaceContext,
  tx: Tx,
  workspace_id: string,
  canceled_reason: string,
): Promise<void> {
  const result = canceledResult(canceled_reason, username);
  const isRunning = or(
    eq(jobs.state, "running"),
    // A step belongs to the run of its flow.
    and(eq(jobs.state, "queued"), isNotNull(jobs.flow_step_id)),
  );
  const ended = await tx
    .update(jobs)
    .set({
      state: "completed",
      status: "canceled",
      result,
      canceled_by: username,
      canceled_reason,
      preprocessor_input: null,
      completed_at: app.clock(),
      duration_ms: 0,
    })
    .where(and(eq(jobs.workspace_id, workspace_id), isRunning))
    .returning({ id: jobs.id });
  const ids = ended.map(({ id }) => id);
  for (let at = 0; at < ids.length; at += MOST_IDS) await forgetRuns(tx, ids.slice(at, at + MOST_IDS));
  tx.afterCommit(() => {
    for (const id of ids) {
      app.queue.cancel(id);
      app.events.publishFinished({ id, workspace_id, status: "canceled", result });
    }
  });
}

/** Keys of concurrency begin with the workspace's id where the script names none; cached results are found by it. */
async function renameKeys(tx: Tx, from: string, to: string): Promise<void> {
  await tx
    .update(jobs)
    .set({ concurrency_key: sql`${to} || substr(${jobs.concurrency_key}, ${from.length + 1})` })
    .where(and(eq(jobs.workspace_id, from), startsWith(jobs.concurrency_key, `${from}/`)));
  await tx.delete(jobCache).where(eq(jobCache.workspace_id, from));
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
