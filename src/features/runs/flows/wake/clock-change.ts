/** Waits of flows when the clock was set back: what is left of each is waited for, and no more. */
import { and, gt, gte } from "drizzle-orm";
import type { App } from "../../../../platform/app/context.ts";
import { flowFrames } from "../../../code/flows/tables.ts";
import { nextMoment } from "../drive/drive.ts";
import { transact } from "../plan/commit-transition.ts";
import { FIRST_REAL } from "../plan/wake-times.ts";
import type { LiveFrame } from "../run.ts";

/** Moves what frames wait for to as much earlier as the clock was set back. */
export async function moveWaits(app: App, by_ms: number): Promise<void> {
  const { wake_at, root_job } = flowFrames;
  const waiting = and(gte(wake_at, FIRST_REAL), gt(wake_at, app.clock()));
  const roots = await app.db.read.selectDistinct({ root_job }).from(flowFrames).where(waiting);
  for (const root of roots) {
    await transact(app, root.root_job, { write: app.db.write }, (run) => {
      const frames = [...run.frames.values()].filter(({ state }) => state.waits);
      if (frames.length === 0) return undefined;
      return async (plan) => {
        for (const frame of frames) {
          move(frame, by_ms);
          plan.frameChanged(frame);
        }
      };
    });
  }
}

function move(frame: LiveFrame, by_ms: number): void {
  const { waits } = frame.state;
  if (!waits) return;
  frame.state = { ...frame.state, waits: { ...waits, until: waits.until - by_ms } };
  frame.wake_at = nextMoment(frame);
}
