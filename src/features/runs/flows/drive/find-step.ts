/** Finding a step in a run, wherever in the flow it stands. */
import { and, desc, eq, inArray, ne } from "drizzle-orm";
import { onlyLeaf } from "../../../../engines/flow-engine/iterations.ts";
import type { FrameState, ModuleState, ResultRef } from "../../../../engines/flow-engine/state.ts";
import type { FlowModule } from "../../../../engines/flow-engine/types.ts";
import type { App } from "../../../../platform/app/context.ts";
import { jobs } from "../../../../platform/queue/tables.ts";
import { flowFrames } from "../../../code/flows/tables.ts";

/** Of many iterations the newest are looked at. */
const MAX_FRAMES = 500;

interface Found {
  own: ModuleState;
  /** The list of modules that it stands in. */
  state: FrameState;
}

/** The newest state of a step; undefined before it has begun. */
export async function findStep(app: App, flow_job: string, step: string): Promise<Found | undefined> {
  for await (const level of levelsOf(app, flow_job)) {
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
  }
  return undefined;
}

/**
 * Where the newest result of a step is; undefined for one that has none.
 * @param modules those of the flow, by id
 */
export async function findResult(
  app: App,
  flow_job: string,
  step: string,
  modules: ReadonlyMap<string, FlowModule>,
): Promise<ResultRef | undefined> {
  const loop = [...modules.values()].find((module) => onlyLeaf(module)?.id === step);
  if (!loop) return (await findStep(app, flow_job, step))?.own.result;
  // Its jobs are the loop's own, without a list of modules around each.
  for await (const level of levelsOf(app, flow_job)) {
    const [job] = await app.db.read
      .select({ id: jobs.id })
      .from(jobs)
      .where(
        and(
          inArray(jobs.parent_job, level),
          eq(jobs.flow_step_id, loop.id),
          inArray(jobs.status, ["success", "skipped"]),
          ne(jobs.kind, "flownode"),
        ),
      )
      .orderBy(desc(jobs.id))
      .limit(1);
    if (job) return { job: job.id };
  }
  return undefined;
}

/** The frames of a flow's run, from the flow itself inwards. */
async function* levelsOf(app: App, flow_job: string): AsyncGenerator<string[]> {
  for (let level = [flow_job]; level.length > 0; ) {
    yield level;
    const inner = await app.db.read
      .select({ id: jobs.id })
      .from(jobs)
      .where(and(inArray(jobs.parent_job, level), eq(jobs.kind, "flownode")))
      .orderBy(desc(jobs.id))
      .limit(MAX_FRAMES);
    level = inner.map(({ id }) => id);
  }
}
