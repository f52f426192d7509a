/**
 * Submits many jobs that differ only in their ids. Their common row is built and checked once.
 *
 * On PostgreSQL they are one statement (database/postgres/group-commit.ts).
 */

import { processInBatches } from "../../../lib/async/batches.ts";
import { createUuid } from "../../../lib/text/ids.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { requireNotDraining } from "../../../platform/http/execute.ts";
import { insertEqualJobs } from "../../../platform/queue/job-store.ts";
import { requireOpenWorkspace } from "../../tenancy/workspaces/gate.ts";
import { refreshCiphertexts } from "../arguments/stale-ciphertext.ts";
import type { Submission } from "./submission.ts";
import { requireTagPermission, submitJob, toJobRow } from "./submit.ts";

/** Jobs in one transaction, which takes some milliseconds. */
const BATCH_SIZE = 2_000;

/**
 * Stores `count` identical jobs in batches: one transaction and one audit row each. Jobs with a free slot are stored as
 * running and dispatched after the commit, the others are queued.
 * @returns their ids, in the order they are to run
 * @throws Unavailable while draining, Forbidden for a tag that the token may not run
 */
export async function submitIdenticalJobs(
  ctx: WorkspaceContext,
  submission: Submission,
  count: number,
): Promise<string[]> {
  if (submission.flow || submission.delete_after_use) {
    // Flows and jobs with `delete_after_use` start differently, so each is submitted separately.
    return processInBatches(Array.from({ length: count }), (some) =>
      Promise.all(some.map(async () => (await submitJob(ctx, submission, {})).id)),
    );
  }
  const { app } = ctx;
  requireNotDraining(app);
  requireTagPermission(ctx, submission);
  const ids = Array.from({ length: count }, createUuid);
  using room = app.queue.reserve(submission.tag, submission.concurrency ? 0 : count);
  const now = app.clock();
  const row = (direct: boolean) => toJobRow(ctx, submission, {}, { now, scheduled_for: now, direct });
  const [running, queued] = [row(true), row(false)];
  let unhanded = room.slots;
  const storeSome = (some: readonly string[]) =>
    ctx.write(
      { resource: submission.script_path ?? submission.kind, parameters: { jobs: String(some.length) } },
      async (tx) => {
        await requireOpenWorkspace(app, tx, running.workspace_id);
        for (const job of [running, queued]) await refreshCiphertexts(app, tx, job, false);
        const direct = some.slice(0, unhanded);
        await insertEqualJobs(tx, running, direct);
        await insertEqualJobs(tx, queued, some.slice(direct.length));
        tx.afterCommit(() => {
          unhanded -= direct.length;
          for (const id of direct) room.dispatch({ ...running, id });
          if (direct.length < some.length) app.queue.wake();
        });
        return some;
      },
    );
  await processInBatches(ids, storeSome, BATCH_SIZE);
  return ids;
}
