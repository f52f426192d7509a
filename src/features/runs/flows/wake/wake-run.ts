/** The moments that frames asked for have come. */
import type { App } from "../../../../platform/app/context.ts";
import { BEGIN_INNER, drive, stopFrame } from "../drive/drive.ts";
import { transact } from "../plan/commit-transition.ts";
import type { Plan } from "../plan/plan.ts";
import { deadlineOf, type FlowRun, type LiveFrame } from "../run.ts";

/** One transaction wakes as many frames as are planned in this time: others wait for their turn in the run. */
const MAX_PLANNING_MS = 20;

export interface Woken {
  /** Frames that are no part of a run: what is around them has ended. */
  orphans: string[];
  /** Those that are to be woken by another transaction. */
  left: string[];
}

/** Wakes frames of one run, as many as go well into one transaction: at least one of those that are due. */
export async function wakeFrames(app: App, root_job: string, frame_ids: readonly string[]): Promise<Woken> {
  let woken: Woken = { orphans: [], left: [] };
  await transact(app, root_job, { write: app.db.write }, (run, isCertain) => {
    const now = app.clock();
    const isDue = (id: string) => {
      const wake_at = run.frames.get(id)?.wake_at;
      return wake_at != null && wake_at <= now;
    };
    const others = frame_ids.filter((id) => !isDue(id));
    // What is not due in memory may be so in the database.
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
        // What was woken before it may have ended it.
        if (frame && isDue(id)) await wakeFrame(app, run, plan, frame, now);
      }
    };
  });
  return woken;
}

function wakeFrame(app: App, run: FlowRun, plan: Plan, frame: LiveFrame, now: Date): Promise<void> {
  const deadline = deadlineOf(frame);
  if (deadline && deadline <= now) {
    return stopFrame(app, run, plan, { frame, status: "failure", result: timedOut(frame) });
  }
  return drive(app, run, plan, frame, frame.state.waits ? { type: "woken" } : BEGIN_INNER);
}

function timedOut({ flow }: LiveFrame): string {
  const message = `the flow did not end within ${flow.job.timeout_s} s, pauses included, and was stopped`;
  return JSON.stringify({ error: { name: "ExecutionTimeout", message } });
}
