/** Wakes frames whose wake time has come. */
import type { App } from "../../../../platform/app/context.ts";
import { applyEvent, START_INNER, stopFrame } from "../drive/apply-event.ts";
import { computeFrameDeadline, type FlowRun, type LiveFrame } from "../live-run.ts";
import { commitTransition } from "../plan/commit-transition.ts";
import type { Plan } from "../plan/plan.ts";

/**
 * Planning time of one transaction. Further frames wait for another one, so that other transitions of the run get a
 * turn.
 */
const MAX_PLANNING_MS = 20;

export interface WakeResult {
  /** Frames that belong to no run: the frame around them has ended. */
  orphans: string[];
  /** Frames to be woken in another transaction. */
  left: string[];
}

/** Wakes due frames of one run, as many as fit into one transaction but at least one. */
export async function wakeDueFrames(
  app: App,
  root_job: string,
  frame_ids: readonly string[],
): Promise<WakeResult> {
  let woken: WakeResult = { orphans: [], left: [] };
  await commitTransition(app, root_job, { write: app.db.write }, (run, isCertain) => {
    const now = app.clock();
    const isDue = (id: string) => {
      const wake_at = run.frames.get(id)?.wake_at;
      return wake_at != null && wake_at <= now;
    };
    const others = frame_ids.filter((id) => !isDue(id));
    // A frame that is not due in memory may be due in the database.
    woken = isCertain
      ? { orphans: others.filter((id) => !run.frames.has(id)), left: [] }
      : { orphans: [], left: others };
    const due = frame_ids.filter(isDue);
    if (due.length === 0) return undefined;
    return async (plan) => {
      const until = performance.now() + MAX_PLANNING_MS;
      for (const [index, id] of due.entries()) {
        const isFull = plan.isLarge || performance.now() > until;
        if (index > 0 && isFull) {
          woken.left.push(...due.slice(index));
          return;
        }
        const frame = run.frames.get(id);
        // An earlier frame in this loop may have ended it.
        if (frame && isDue(id)) await wakeFrame(app, run, plan, frame, now);
      }
    };
  });
  return woken;
}

function wakeFrame(app: App, run: FlowRun, plan: Plan, frame: LiveFrame, now: Date): Promise<void> {
  const deadline = computeFrameDeadline(frame);
  if (deadline && deadline <= now) {
    return stopFrame(app, run, plan, { frame, status: "failure", result: createTimeoutResult(frame) });
  }
  return applyEvent(app, run, plan, frame, frame.state.waits ? { type: "woken" } : START_INNER);
}

function createTimeoutResult({ flow }: LiveFrame): string {
  const message = `the flow did not end within ${flow.job.timeout_s} s, pauses included, and was stopped`;
  return JSON.stringify({ error: { name: "ExecutionTimeout", message } });
}
