/** Finds a step anywhere in a flow run. */
import { and, desc, eq, inArray, ne } from "drizzle-orm";
import { findOnlyLeaf } from "../../../../engines/flow-engine/iterations.ts";
import type { FrameState, ModuleState, ResultRef } from "../../../../engines/flow-engine/state.ts";
import type { FlowModule } from "../../../../engines/flow-engine/types.ts";
import type { App } from "../../../../platform/app/context.ts";
import { jobs } from "../../../../platform/queue/tables.ts";
import { flowFrames } from "../../../code/flows/tables.ts";

/** Maximum number of frames searched per level, the newest iterations first. */
const MAX_FRAMES_PER_LEVEL = 500;

interface FoundStep {
  own: ModuleState;
  /** State of the frame that contains it. */
  state: FrameState;
}

/** Finds the newest state of a step; undefined before it has begun. */
export async function findStep(app: App, flow_job: string, step: string): Promise<FoundStep | undefined> {
  for await (const level of walkLevels(app, flow_job)) {
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
 * Finds the newest result of a step; undefined if it has none.
 * @param modules of the flow, by id
 */
export async function findResultInDatabase(
  app: App,
  flow_job: string,
  step: string,
  modules: ReadonlyMap<string, FlowModule>,
): Promise<ResultRef | undefined> {
  const loop = [...modules.values()].find((module) => findOnlyLeaf(module)?.id === step);
  if (!loop) return (await findStep(app, flow_job, step))?.own.result;
  // The jobs of such a step belong to the loop directly, without a frame per iteration.
  for await (const level of walkLevels(app, flow_job)) {
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

/** Yields the ids of a run's frames level by level, from the flow inwards. */
async function* walkLevels(app: App, flow_job: string): AsyncGenerator<string[]> {
  for (let level = [flow_job]; level.length > 0; ) {
    yield level;
    const inner = await app.db.read
      .select({ id: jobs.id })
      .from(jobs)
      .where(and(inArray(jobs.parent_job, level), eq(jobs.kind, "flownode")))
      .orderBy(desc(jobs.id))
      .limit(MAX_FRAMES_PER_LEVEL);
    level = inner.map(({ id }) => id);
  }
}
