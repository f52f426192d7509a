/** The flow of a run in memory, and the frame of its own modules. */

import type { Job } from "../../../../platform/queue/tables.ts";
import { type LiveFlow, type LiveFrame, readFlowInput } from "../live-run.ts";
import { indexModules } from "../modules.ts";
import { decodeRestartPoint } from "../restart.ts";

export function createLiveFlow(job: Job, value: LiveFlow["value"], depth: number): LiveFlow {
  const isWhole = decodeRestartPoint(job) === undefined;
  const modules = indexModules(value);
  return { job, value, modules, input: readFlowInput(job), depth, finished: new Map(), isComplete: isWhole };
}

/** Creates the frame of a flow's own modules. */
export function createFlowFrame(
  flow: LiveFlow,
  place: Pick<LiveFrame, "parent" | "module" | "index">,
): LiveFrame {
  return {
    ...place,
    id: flow.job.id,
    flow,
    iter: undefined,
    frame: flow.value,
    state: { step: 0, modules: [] },
    wake_at: null,
    started_at: flow.job.started_at ?? flow.job.created_at,
    started_ms: performance.now(),
  };
}
