/** Submitting many jobs that differ in nothing but their ids: what they have in common is made and stored once. */
import type { WorkspaceContext } from "../../context.ts";
import { refuseWhileDraining } from "../../http/execute.ts";
import { newJobId } from "../../lib/ids.ts";
import { insertEqualJobs } from "../../queue/driver.ts";
import { refuseClosed } from "../workspaces/closed.ts";
import { keepSeals } from "./stale-seals.ts";
import type { Submission } from "./submission.ts";
import { requireTag, submitJob, toRow } from "./submit.ts";

/**
 * Stores so many equal jobs in one transaction, with one row of the audit log: for as many as there is room as running,
 * which are handed over after the commit, the others as queued.
 * @returns their ids, in the order they are to run
 * @throws Unavailable while draining, Forbidden for a tag that the token may not run
 */
export async function submitEqualJobs(
  ctx: WorkspaceContext,
  submission: Submission,
  count: number,
): Promise<string[]> {
  if (submission.flow || submission.delete_after_use) {
    // Of these each begins in a way of its own.
    const jobs = await Promise.all(Array.from({ length: count }, () => submitJob(ctx, submission, {})));
    return jobs.map((job) => job.id);
  }
  const { app } = ctx;
  refuseWhileDraining(app);
  requireTag(ctx, submission);
  const ids = Array.from({ length: count }, newJobId);
  using room = app.queue.reserve(submission.tag, submission.concurrency ? 0 : count);
  const direct = room.places;
  const now = app.clock();
  const row = (isDirect: boolean) =>
    toRow(ctx, submission, {}, { now, scheduled_for: now, direct: isDirect });
  const [running, queued] = [row(true), row(false)];
  await ctx.write(
    { resource: submission.script_path ?? submission.kind, parameters: { jobs: String(count) } },
    async (tx) => {
      await refuseClosed(app, tx, running.workspace_id);
      for (const job of [running, queued]) await keepSeals(app, tx, job, false);
      await insertEqualJobs(tx, running, ids.slice(0, direct));
      await insertEqualJobs(tx, queued, ids.slice(direct));
      tx.afterCommit(() => {
        for (const id of ids.slice(0, direct)) room.hand({ ...running, id });
        if (direct < count) app.queue.wake();
      });
    },
  );
  return ids;
}
