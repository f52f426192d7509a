/** Results of a flow's steps at any depth: expressions refer to them by id. */
import { eq } from "drizzle-orm";
import { findOnlyLeaf, isSuccessful } from "../../../../engines/flow-engine/iterations.ts";
import type { FrameEvent, ResultRef } from "../../../../engines/flow-engine/state.ts";
import type { App } from "../../../../platform/app/context.ts";
import { type Job, jobs } from "../../../../platform/queue/tables.ts";
import type { LiveFlow, LiveFrame } from "../live-run.ts";
import { listBodies } from "../modules.ts";
import { decodeRestartPoint } from "../restart.ts";
import { findResultInDatabase } from "./find-step.ts";

/**
 * Records the steps that a transition has completed in a frame. @param from index of the module that was active before
 * it
 */
export function recordFinishedSteps({ flow, state }: LiveFrame, from: number): void {
  for (const own of state.modules.slice(from)) if (own?.result) flow.finished.set(own.id, own.result);
}

/**
 * Records the result of the single step in a loop, which has no frame of its own. Expressions evaluated next see it
 * already.
 */
export function recordLoopResult({ flow }: LiveFrame, event: FrameEvent): void {
  if (event.type !== "child" || !isSuccessful(event)) return;
  const loop = flow.modules.get(event.module);
  const leaf = loop && findOnlyLeaf(loop);
  if (leaf) flow.finished.set(leaf.id, { job: event.job });
}

/** Finds the newest result of a step; undefined if it has none, or is not a step of the flow. */
export async function findStepResult(app: App, flow: LiveFlow, id: string): Promise<ResultRef | undefined> {
  if (!flow.modules.has(id)) return undefined;
  // Memory is newer than the database.
  if (flow.finished.has(id) || flow.isComplete) return flow.finished.get(id);
  const found = await findStoredResult(app, flow, id);
  flow.finished.set(id, found);
  return found;
}

/** Finds a stored result. For a restarted run, results from before the restart point are taken from the earlier run. */
async function findStoredResult(app: App, flow: LiveFlow, id: string): Promise<ResultRef | undefined> {
  for (let job: Job | undefined = flow.job; job; ) {
    const found = await findResultInDatabase(app, job.id, id, flow.modules);
    const point = decodeRestartPoint(job);
    if (found || !point || !isBefore(flow, id, point.step_id)) return found;
    [job] = await app.db.read.select().from(jobs).where(eq(jobs.id, point.flow_job_id));
  }
  return undefined;
}

function isBefore({ value }: LiveFlow, id: string, step: string): boolean {
  const holds = (module: (typeof value.modules)[number]): boolean =>
    module.id === id || listBodies(module).some(({ modules }) => modules.some(holds));
  const at = value.modules.findIndex(holds);
  return at >= 0 && at < value.modules.findIndex((module) => module.id === step);
}
