/** Fails frames and runs that cannot continue, instead of retrying them forever. */
import { and, eq, sql } from "drizzle-orm";
import { isTransient } from "../../../../database/failure.ts";
import type { App } from "../../../../platform/app/context.ts";
import { collectFollowUp } from "../../../../platform/app/job-ends.ts";
import { jobs } from "../../../../platform/queue/tables.ts";
import { flowFrames } from "../../../code/flows/tables.ts";
import { stopFrame } from "../drive/apply-event.ts";
import { commitTransition, PlanningFailed } from "../plan/commit-transition.ts";
import { releaseConcurrencySlot } from "../plan/stop-frames.ts";
import { CLEANUP_TIME, wakeFlowsAt } from "../plan/wake-times.ts";

/**
 * Fails a frame whose next transition cannot be planned. If even that cannot be planned, the whole run is failed as it
 * is.
 * @throws a transient error: nothing is failed then
 */
export async function failFrame(app: App, root_job: string, frame_id: string, cause: unknown): Promise<void> {
  const why = cause instanceof PlanningFailed ? cause.message : String(cause);
  const message = `what the flow does next could not be worked out: ${why}`;
  try {
    await commitTransition(app, root_job, { write: app.db.write }, (run) => {
      const frame = run.frames.get(frame_id);
      const step_id = frame?.frame.modules[frame.state.step]?.id;
      const result = JSON.stringify({ error: { name: "InternalError", message, step_id } });
      return frame && ((plan) => stopFrame(app, run, plan, { frame, status: "failure", result }));
    });
  } catch (error) {
    if (isTransient(error)) throw error;
    app.log.error(
      { job: root_job, error: String(error) },
      "a flow run that cannot continue is failed as it is",
    );
    await failRun(app, root_job, JSON.stringify({ error: { name: "InternalError", message } }));
  }
}

/** Fails a run whose frames cannot be read or planned. Its jobs are stopped afterwards. @param result JSON text */
async function failRun(app: App, id: string, result: string): Promise<void> {
  await app.db.write(async (tx) => {
    await tx
      .update(flowFrames)
      .set({ version: sql`${flowFrames.version} + 1`, wake_at: CLEANUP_TIME })
      .where(eq(flowFrames.job_id, id));
    const [ended] = await tx
      .update(jobs)
      .set({ state: "completed", status: "failure", result, completed_at: app.clock(), duration_ms: 0 })
      .where(and(eq(jobs.id, id), eq(jobs.state, "running")))
      .returning();
    if (!ended) return;
    await releaseConcurrencySlot(app, tx, ended);
    await collectFollowUp(app, ended, "failure")?.(tx);
    const { workspace_id } = ended;
    tx.afterCommit(() => {
      app.events.publishFinished({ id, workspace_id, status: "failure", result });
      wakeFlowsAt(app, CLEANUP_TIME);
      app.runner.removeShared(id);
    });
  });
}
