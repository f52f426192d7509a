/** Adjusts the waits of flows when the system clock was set back: each waits for its remaining time only. */
import { and, gt, gte } from "drizzle-orm";
import type { App } from "../../../../platform/app/context.ts";
import { retryOnOutage } from "../../../../platform/loops/retry-on-outage.ts";
import { flowFrames } from "../../../code/flows/tables.ts";
import { computeNextWakeTime } from "../drive/apply-event.ts";
import type { LiveFrame } from "../live-run.ts";
import { commitTransition } from "../plan/commit-transition.ts";
import { EARLIEST_WAKE_TIME } from "../plan/wake-times.ts";

/** Moves the wake times of waiting frames earlier by as much as the clock was set back. */
export async function shiftWakeTimes(app: App, by_ms: number): Promise<void> {
  const { wake_at, root_job } = flowFrames;
  const waiting = and(gte(wake_at, EARLIEST_WAKE_TIME), gt(wake_at, app.clock()));
  const roots = await app.db.read.selectDistinct({ root_job }).from(flowFrames).where(waiting);
  for (const root of roots) {
    // Each frame is updated separately: if a combined update were repeated, frames would be moved twice.
    await retryOnOutage(app, { what: `waits of flow run ${root.root_job}` }, () =>
      shiftWaitsOf(app, root.root_job, by_ms),
    );
  }
}

async function shiftWaitsOf(app: App, root_job: string, by_ms: number): Promise<void> {
  await commitTransition(app, root_job, { write: app.db.write }, (run) => {
    const frames = [...run.frames.values()].filter(({ state }) => state.waits);
    if (frames.length === 0) return undefined;
    return async (plan) => {
      for (const frame of frames) {
        shiftWait(frame, by_ms);
        plan.updateFrame(frame);
      }
    };
  });
}

function shiftWait(frame: LiveFrame, by_ms: number): void {
  const { waits } = frame.state;
  if (!waits) return;
  frame.state = { ...frame.state, waits: { ...waits, until: waits.until - by_ms } };
  frame.wake_at = computeNextWakeTime(frame);
}
