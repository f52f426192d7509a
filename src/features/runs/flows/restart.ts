/**
 * A run that begins where another one was: it takes over the results of the steps before, and, inside of a loop or of
 * branches that all run, those of the iterations or branches before.
 */
import { and, asc, eq, inArray, lt } from "drizzle-orm";
import { z } from "zod";
import type { FrameEvent, FrameState, ModuleState } from "../../../engines/flow-engine/state.ts";
import type { FlowModule, FlowValue } from "../../../engines/flow-engine/types.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { parseFields } from "../../../lib/json/json.ts";
import { newJobId } from "../../../lib/text/ids.ts";
import type { App } from "../../../platform/app/context.ts";
import { type Job, jobs } from "../../../platform/queue/tables.ts";
import { flowFrames, flowItems } from "../../code/flows/tables.ts";

/** From which step of which run another one begins. */
export const RestartPoint = z.object({
  flow_job_id: z.uuid().toLowerCase(),
  step_id: z.string(),
  branch_or_iteration_n: z
    .number()
    .int()
    .min(0)
    .nullish()
    .overwrite((n) => n ?? undefined),
});
export type RestartPoint = z.output<typeof RestartPoint>;

/** How a run begins that takes over something. */
export interface Beginning {
  state: FrameState;
  event: FrameEvent;
  /** Iterations that are taken over, as jobs of the new run: completed ones. */
  iterations: Job[];
  /** What the loop goes over. */
  items: { module: string; items: unknown[] } | undefined;
}

/** @throws BadRequest when nothing can be taken over from the job */
export function checkPoint(job: Job): void {
  if (job.kind !== "flow" && job.kind !== "flowpreview") {
    throw new BadRequest(`job ${job.id} is no run of a flow: it is of kind ${job.kind}`);
  }
  if (job.state !== "completed") throw new BadRequest(`run ${job.id} has not ended: it is ${job.state}`);
}

/** What is stored with the job of a run that takes over something. */
export function storedPoint(restarted_from: RestartPoint): string {
  return JSON.stringify({ restarted_from });
}

/** Where a flow's job begins, when that is not at its first step. */
export function pointOf({ kind, flow_body }: Job): RestartPoint | undefined {
  if (kind === "flownode" || flow_body === null) return undefined;
  return (parseFields(flow_body) as { restarted_from?: RestartPoint }).restarted_from;
}

/**
 * How the run of a job begins; undefined when at its first step.
 * @throws BadRequest when the other run did not come so far, or is not kept any more
 */
export async function beginningOf(app: App, job: Job, value: FlowValue): Promise<Beginning | undefined> {
  const point = pointOf(job);
  if (!point) return undefined;
  const { flow_job_id, step_id, branch_or_iteration_n: n } = point;
  const [row] = await app.db.read
    .select({ state: flowFrames.state })
    .from(flowFrames)
    .where(eq(flowFrames.job_id, flow_job_id));
  if (!row) throw new BadRequest(`run ${flow_job_id} has left nothing to continue from`);
  const before = row.state as FrameState;
  const index = value.modules.findIndex(({ id }) => id === step_id);
  const module = value.modules[index];
  if (!module) throw new BadRequest(`the flow has no step ${step_id} that is not inside of another step`);
  const modules = value.modules.slice(0, index).map((each) => endedModule(before, each, flow_job_id));
  await refuseDeleted(app, modules);
  const last = modules.at(-1);
  const previous = last?.result;
  const state: FrameState = {
    step: index,
    modules,
    ...(previous ? { previous } : {}),
    ...(last?.answered ? { resumed: { module: last.id, ...last.answered } } : {}),
    // Its input is what the preprocessor made of the call before.
    ...(value.preprocessor_module ? { preprocessor: { id: "preprocessor", type: "Success" } } : {}),
  };
  if (!n) return { state, event: { type: "start" }, iterations: [], items: undefined };
  return insideOf(app, job, { point, n, module, state, own: moduleOf(before, step_id) });
}

function moduleOf(state: FrameState, id: string): ModuleState | undefined {
  return state.modules.find((each) => each?.id === id);
}

/** @throws BadRequest when the run did not get past the step */
function endedModule(state: FrameState, module: FlowModule, run: string): ModuleState {
  const { id } = module;
  const found = moduleOf(state, id);
  if (!found?.result) throw notPassed(`step ${id} has no result in run ${run}`);
  const isOver = state.step > state.modules.indexOf(found);
  if (isOver || found.answered) return found;
  if (found.type === "Failure") throw notPassed(`step ${id} failed in run ${run}`);
  if (module.suspend) throw notPassed(`step ${id} was not approved in run ${run}`);
  return found;
}

function notPassed(why: string): BadRequest {
  return new BadRequest(`${why}: restart from it, or from a step before`);
}

/** @throws BadRequest when a result was deleted after its use */
async function refuseDeleted(app: App, modules: ModuleState[]): Promise<void> {
  for (const { id, result } of modules) {
    if (!result || !("gather" in result)) continue;
    const [gone] = await app.db.read
      .select({ id: jobs.id })
      .from(jobs)
      .where(
        and(eq(jobs.parent_job, result.of), eq(jobs.flow_step_id, result.gather), eq(jobs.deleted, true)),
      )
      .limit(1);
    if (gone) throw notKept(id);
  }
  const ids = modules.flatMap(({ result }) => (result && "job" in result ? [result.job] : []));
  if (ids.length === 0) return;
  const kept = await app.db.read
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(inArray(jobs.id, ids), eq(jobs.deleted, false)));
  const gone = modules.find(
    ({ result }) => result && "job" in result && !kept.some(({ id }) => id === result.job),
  );
  if (gone) throw notKept(gone.id);
}

function notKept(step: string): BadRequest {
  return notPassed(`the result of step ${step} is not kept any more`);
}

interface Inside {
  point: RestartPoint;
  n: number;
  module: FlowModule;
  state: FrameState;
  /** How far the other run came. */
  own: ModuleState | undefined;
}

/** The iterations before the nth are taken over; that the last of them ends is what the new run begins with. */
async function insideOf(app: App, job: Job, { point, n, module, state, own }: Inside): Promise<Beginning> {
  const { flow_job_id, step_id } = point;
  const { value } = module;
  if (value.type !== "forloopflow" && value.type !== "whileloopflow" && value.type !== "branchall") {
    throw new BadRequest(`step ${step_id} is neither a loop nor runs all its branches: it has no part ${n}`);
  }
  const items = value.type === "forloopflow" ? await itemsOf(app, flow_job_id, step_id) : undefined;
  const total = value.type === "branchall" ? value.branches.length : items?.length;
  if (total !== undefined && n >= total) {
    throw new BadRequest(
      `step ${step_id} has ${total} parts, counted from 0: there is none with number ${n}`,
    );
  }
  const rows = await app.db.read
    .select()
    .from(jobs)
    .where(and(eq(jobs.parent_job, flow_job_id), eq(jobs.flow_step_id, step_id), lt(jobs.flow_index, n)))
    .orderBy(asc(jobs.id));
  // Of one that ran again the last counts.
  const byIndex = new Map(rows.map((row) => [row.flow_index, row]));
  const iterations = Array.from({ length: n }, (_, index) => {
    const row = byIndex.get(index);
    const skips = value.type === "branchall" ? value.branches[index]?.skip_failure : value.skip_failures;
    const isGood = row?.status === "success" || row?.status === "skipped" || (row?.status && skips);
    if (!row || !isGood || row.deleted) {
      throw new BadRequest(`part ${index} of step ${step_id} did not end well in run ${flow_job_id}`);
    }
    return {
      ...row,
      id: newJobId(),
      parent_job: job.id,
      root_job: job.root_job ?? job.id,
      concurrency_key: null,
    };
  });
  const last = iterations.at(-1)!;
  const many = {
    ...(total === undefined ? {} : { total }),
    most: own?.many?.most ?? 1,
    started: n,
    running: { [n - 1]: last.id },
  };
  state.modules.push({ id: step_id, type: "InProgress", job: last.id, many });
  const event = {
    type: "child",
    module: step_id,
    job: last.id,
    index: n - 1,
    status: last.status ?? "success",
    result: last.result ?? "null",
  } as const;
  return { state, event, iterations, items: items && { module: step_id, items } };
}

async function itemsOf(app: App, run: string, module: string): Promise<unknown[]> {
  const [row] = await app.db.read
    .select({ items: flowItems.items })
    .from(flowItems)
    .where(and(eq(flowItems.job_id, run), eq(flowItems.module_id, module)));
  if (!row) throw new BadRequest(`step ${module} did not begin in run ${run}`);
  return row.items;
}
