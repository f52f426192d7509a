/** Finding a step in a run, wherever in the flow it stands. */
import { and, desc, eq, inArray } from "drizzle-orm";
import type { App } from "../../../context.ts";
import type { FrameState, ModuleState } from "../../../flow-engine/state.ts";
import { jobs } from "../../../queue/tables.ts";
import { flowFrames } from "../tables.ts";

/** Of many iterations the newest are looked at. */
const MAX_FRAMES = 500;

interface Found {
  own: ModuleState;
  /** The list of modules that it stands in. */
  state: FrameState;
}

/** The newest state of a step; undefined before it has begun. */
export async function findStep(app: App, flow_job: string, step: string): Promise<Found | undefined> {
  for (let level = [flow_job]; level.length > 0; ) {
    const frames = await app.db.read
      .select({ state: flowFrames.state })
      .from(flowFrames)
      .where(inArray(flowFrames.job_id, level))
      .orderBy(desc(flowFrames.job_id));
    for (const frame of frames) {
      const state = frame.state as FrameState;
      const own = [...state.modules, state.failure, state.preprocessor].find((each) => each?.id === step);
      if (own) return { own, state };
    }
    const inner = await app.db.read
      .select({ id: jobs.id })
      .from(jobs)
      .where(and(inArray(jobs.parent_job, level), eq(jobs.kind, "flownode")))
      .orderBy(desc(jobs.id))
      .limit(MAX_FRAMES);
    level = inner.map(({ id }) => id);
  }
  return undefined;
}
