/** Submitting many jobs that differ in nothing but their ids: what they have in common is made and stored once. */

import { inPieces } from "../../../lib/async/batches.ts";
import { newJobId } from "../../../lib/text/ids.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { refuseWhileDraining } from "../../../platform/http/execute.ts";
import { insertEqualJobs } from "../../../platform/queue/job-store.ts";
import { refuseClosed } from "../../tenancy/workspaces/gate.ts";
import { keepSeals } from "../arguments/stale-ciphertext.ts";
import type { Submission } from "./submission.ts";
import { requireTag, submitJob, toRow } from "./submit.ts";

/** Jobs of one transaction: storing them takes some milliseconds. */
const MOST_AT_ONCE = 2_000;

/**
 * Stores so many equal jobs, a piece of them in one transaction with one row of the audit log: for as many as there is
 * room as running, which are handed over after the commit, the others as queued.
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
    return inPieces(Array.from({ length: count }), (some) =>
      Promise.all(some.map(async () => (await submitJob(ctx, submission, {})).id)),
    );
  }
  const { app } = ctx;
  refuseWhileDraining(app);
  requireTag(ctx, submission);
  const ids = Array.from({ length: count }, newJobId);
  using room = app.queue.reserve(submission.tag, submission.concurrency ? 0 : count);
  const now = app.clock();
  const row = (direct: boolean) => toRow(ctx, submission, {}, { now, scheduled_for: now, direct });
  const [running, queued] = [row(true), row(false)];
  let unhanded = room.places;
  const storeSome = (some: readonly string[]) =>
    ctx.write(
      { resource: submission.script_path ?? submission.kind, parameters: { jobs: String(some.length) } },
      async (tx) => {
        await refuseClosed(app, tx, running.workspace_id);
        for (const job of [running, queued]) await keepSeals(app, tx, job, false);
        const direct = some.slice(0, unhanded);
        await insertEqualJobs(tx, running, direct);
        await insertEqualJobs(tx, queued, some.slice(direct.length));
        tx.afterCommit(() => {
          unhanded -= direct.length;
          for (const id of direct) room.hand({ ...running, id });
          if (direct.length < some.length) app.queue.wake();
        });
        return some;
      },
    );
  await inPieces(ids, storeSome, MOST_AT_ONCE);
  return ids;
}
