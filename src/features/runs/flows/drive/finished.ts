/** The results of a flow's steps, wherever in it they stand: expressions name them by id. */
import { eq } from "drizzle-orm";
import { isGood, onlyLeaf } from "../../../../engines/flow-engine/iterations.ts";
import type { FrameEvent, ResultRef } from "../../../../engines/flow-engine/state.ts";
import type { App } from "../../../../platform/app/context.ts";
import { type Job, jobs } from "../../../../platform/queue/tables.ts";
import { bodiesOf } from "../modules.ts";
import { pointOf } from "../restart.ts";
import type { LiveFlow, LiveFrame } from "../run.ts";
import { findResult } from "./find-step.ts";

/** Remembers what a transition has ended in a frame. @param from index of the module that was under way before it */
export function noteFinished({ flow, state }: LiveFrame, from: number): void {
  for (const own of state.modules.slice(from)) if (own?.result) flow.finished.set(own.id, own.result);
}

/** Remembers the end of a job: of a step alone in a loop no frame does. What follows from the end sees it already. */
export function noteEnd({ flow }: LiveFrame, event: FrameEvent): void {
  if (event.type !== "child" || !isGood(event)) return;
  const loop = flow.modules.get(event.module);
  const leaf = loop && onlyLeaf(loop);
  if (leaf) flow.finished.set(leaf.id, { job: event.job });
}

/** The newest result of a step of the flow; undefined for one that has none, and for what is no step of it. */
export async function findFinished(app: App, flow: LiveFlow, id: string): Promise<ResultRef | undefined> {
  if (!flow.modules.has(id)) return undefined;
  // What is in memory is newer than what is stored.
  if (flow.finished.has(id) || flow.isWhole) return flow.finished.get(id);
  const found = await storedResult(app, flow, id);
  flow.finished.set(id, found);
  return found;
}

/** Of a run that has begun where another one was, the other's steps before that count as well. */
async function storedResult(app: App, flow: LiveFlow, id: string): Promise<ResultRef | undefined> {
  for (let job: Job | undefined = flow.job; job; ) {
    const found = await findResult(app, job.id, id, flow.modules);
    const point = pointOf(job);
    if (found || !point || !isBefore(flow, id, point.step_id)) return found;
    [job] = await app.db.read.select().from(jobs).where(eq(jobs.id, point.flow_job_id));
  }
  return undefined;
}

function isBefore({ value }: LiveFlow, id: string, step: string): boolean {
  const holds = (module: (typeof value.modules)[number]): boolean =>
    module.id === id || bodiesOf(module).some(({ modules }) => modules.some(holds));
  const at = value.modules.findIndex(holds);
  return at >= 0 && at < value.modules.findIndex((module) => module.id === step);
}
