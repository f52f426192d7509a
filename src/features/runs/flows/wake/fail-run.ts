/** Ending what nothing more can be made of: better a flow that fails than one that is tried for ever. */
import { and, eq, sql } from "drizzle-orm";
import { isPassing } from "../../../../database/failure.ts";
import type { App } from "../../../../platform/app/context.ts";
import { followUpOf } from "../../../../platform/app/job-ends.ts";
import { jobs } from "../../../../platform/queue/tables.ts";
import { flowFrames } from "../../../code/flows/tables.ts";
import { stopFrame } from "../drive/drive.ts";
import { NotPlanned, transact } from "../plan/commit-transition.ts";
import { freePlace } from "../plan/stopping.ts";
import { STOPS_BELOW, wakeFlowsAt } from "../plan/wake-times.ts";

/**
 * A frame that what it does next cannot be worked out for fails; where even that cannot be worked out, the whole run
 * ends as it stands.
 * @throws what passes: nothing is given up for that
 */
export async function giveUpFrame(
  app: App,
  root_job: string,
  frame_id: string,
  cause: unknown,
): Promise<void> {
  const why = cause instanceof NotPlanned ? cause.message : String(cause);
  const message = `what the flow does next could not be worked out: ${why}`;
  try {
    await transact(app, root_job, { write: app.db.write }, (run) => {
      const frame = run.frames.get(frame_id);
      const step_id = frame?.frame.modules[frame.state.step]?.id;
      const result = JSON.stringify({ error: { name: "InternalError", message, step_id } });
      return frame && ((plan) => stopFrame(app, run, plan, { frame, status: "failure", result }));
    });
  } catch (error) {
    if (isPassing(error)) throw error;
    app.log.error({ job: root_job, error: String(error) }, "a run of a flow is ended in its current state");
    await endRun(app, root_job, JSON.stringify({ error: { name: "InternalError", message } }));
  }
}

/** Ends a run whose frames cannot be read, or planned; what is in it is stopped afterwards. @param result JSON text */
async function endRun(app: App, id: string, result: string): Promise<void> {
  await app.db.write(async (tx) => {
    await tx
      .update(flowFrames)
      .set({ version: sql`${flowFrames.version} + 1`, wake_at: STOPS_BELOW })
      .where(eq(flowFrames.job_id, id));
    const [ended] = await tx
      .update(jobs)
      .set({ state: "completed", status: "failure", result, completed_at: app.clock(), duration_ms: 0 })
      .where(and(eq(jobs.id, id), eq(jobs.state, "running")))
      .returning();
    if (!ended) return;
    await freePlace(app, tx, ended);
    await followUpOf(app, ended, "failure")?.(tx);
    const { workspace_id } = ended;
    tx.afterCommit(() => {
      app.events.publishFinished({ id, workspace_id, status: "failure", result });
      wakeFlowsAt(app, STOPS_BELOW);
      app.runner.forgetShared(id);
    });
  });
}
