import { and, sql } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import type { App } from "../../../platform/app/context.ts";
import type { AbandonedJobs } from "../../../platform/app/lifecycle.ts";
import { jobs } from "../../../platform/queue/tables.ts";
import { deleteFlowState } from "../flows/plan/delete-flow-state.ts";
import { createCanceledResult } from "../job/canceled.ts";

/** Stores jobs as canceled, whether their processes have stopped or not, and deletes the state of their flows. */
export async function abandonJobs(
  app: App,
  tx: Tx,
  { workspace_id, which, reason, by }: AbandonedJobs,
): Promise<void> {
  const result = createCanceledResult(reason, by);
  const ended = await tx
    .update(jobs)
    .set({
      state: "completed",
      status: "canceled",
      result,
      canceled_by: by,
      canceled_reason: reason,
      preprocessor_input: null,
      completed_at: app.clock(),
      duration_ms: 0,
    })
    .where(and(which, sql`${jobs.state} <> 'completed'`))
    .returning({ id: jobs.id });
  const ids = ended.map(({ id }) => id);
  if (ids.length > 0) await deleteFlowState(tx, ids);
  tx.afterCommit(() => {
    for (const id of ids) {
      app.queue.cancel(id);
      app.events.publishFinished({ id, workspace_id, status: "canceled", result });
    }
  });
}
