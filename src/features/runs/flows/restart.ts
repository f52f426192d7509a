/**
 * Restarts a flow run from a step. The new run takes over the results of earlier steps and, within a loop or parallel
 * branches, those of earlier iterations or branches.
 */
import { and, asc, eq, inArray, lt } from "drizzle-orm";
import type { FrameEvent, FrameState, ModuleState } from "../../../engines/flow-engine/state.ts";
import type { FlowModule, FlowValue } from "../../../engines/flow-engine/types.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { parseSchemaJson } from "../../../lib/json/json.ts";
import { createUuid } from "../../../lib/text/ids.ts";
import * as z from "../../../lib/zod/z.ts";
import type { App } from "../../../platform/app/context.ts";
import { isFlow } from "../../../platform/queue/states.ts";
import { type Job, jobs } from "../../../platform/queue/tables.ts";
import { flowFrames, flowItems } from "../../code/flows/tables.ts";

/** The run and the step (and iteration or branch) to restart from. */
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

/** State and first event of a restarted run. */
export interface RestartState {
  state: FrameState;
  event: FrameEvent;
  /** Iterations taken over, as completed jobs of the new run. */
  iterations: Job[];
  /** Items of the loop to restart in. */
  items: { module: string; items: unknown[] } | undefined;
}

/** Requires that the job is a completed flow run. @throws BadRequest */
export function requireRestartable(job: Job): void {
  if (!isFlow(job.kind)) {
    throw new BadRequest(`job ${job.id} is not a run of a flow: it is of kind ${job.kind}`);
  }
  if (job.kind === "singlestepflow")
    throw new BadRequest(`job ${job.id} is a run of a script, which has no steps: run the script again`);
  if (job.state !== "completed") throw new BadRequest(`run ${job.id} has not ended: it is ${job.state}`);
}

/** Encodes the restart point for the job's row. */
export function encodeRestartPoint(restarted_from: RestartPoint): string {
  return JSON.stringify({ restarted_from });
}

/** Returns the restart point of a flow's job; undefined if it starts at its first step. */
export function decodeRestartPoint({ kind, flow_body }: Job): RestartPoint | undefined {
  if (kind === "flownode" || flow_body === null) return undefined;
  return (parseSchemaJson(flow_body) as { restarted_from?: RestartPoint }).restarted_from;
}

/**
 * Loads the state that a restarted run begins with; undefined for a run that starts at its first step.
 * @throws BadRequest if the earlier run did not reach the step, or its results were deleted
 */
export async function loadRestartState(
  app: App,
  job: Job,
  value: FlowValue,
): Promise<RestartState | undefined> {
  const point = decodeRestartPoint(job);
  if (!point) return undefined;
  const { flow_job_id, step_id, branch_or_iteration_n: n } = point;
  const [row] = await app.db.read
    .select({ state: flowFrames.state })
    .from(flowFrames)
    .where(eq(flowFrames.job_id, flow_job_id));
  if (!row) throw new BadRequest(`run ${flow_job_id} has no stored state to continue from`);
  const before = row.state as FrameState;
  const index = value.modules.findIndex(({ id }) => id === step_id);
  const module = value.modules[index];
  if (!module) throw new BadRequest(`the flow has no top-level step ${step_id}`);
  const modules = value.modules.slice(0, index).map((each) => getCompletedModule(before, each, flow_job_id));
  await requireKeptResults(app, modules);
  const last = modules.at(-1);
  const previous = last?.result;
  const state: FrameState = {
    step: index,
    modules,
    ...(previous ? { previous } : {}),
    ...(last?.answered ? { resumed: { module: last.id, ...last.answered } } : {}),
    // Its input is the earlier preprocessor's result.
    ...(value.preprocessor_module ? { preprocessor: { id: "preprocessor", type: "Success" } } : {}),
  };
  if (!n) return { state, event: { type: "start" }, iterations: [], items: undefined };
  return restartInIteration(app, job, { point, n, module, state, own: findModule(before, step_id) });
}

function findModule(state: FrameState, id: string): ModuleState | undefined {
  return state.modules.find((each) => each?.id === id);
}

/**
 * Returns the completed state of a module in the earlier run.
 * @throws BadRequest if the earlier run did not get past the step
 */
function getCompletedModule(state: FrameState, module: FlowModule, run: string): ModuleState {
  const { id } = module;
  const found = findModule(state, id);
  if (!found?.result) throw cannotRestart(`step ${id} has no result in run ${run}`);
  const isOver = state.step > state.modules.indexOf(found);
  if (isOver || found.answered) return found;
  if (found.type === "Failure") throw cannotRestart(`step ${id} failed in run ${run}`);
  if (module.suspend) throw cannotRestart(`step ${id} was not approved in run ${run}`);
  return found;
}

function cannotRestart(why: string): BadRequest {
  return new BadRequest(`${why}: restart from it, or from a step before`);
}

/** Checks that the results of modules still exist. @throws BadRequest if a result was deleted after its use */
async function requireKeptResults(app: App, modules: ModuleState[]): Promise<void> {
  for (const { id, result } of modules) {
    if (!result || !("gather" in result)) continue;
    const [gone] = await app.db.read
      .select({ id: jobs.id })
      .from(jobs)
      .where(
        and(eq(jobs.parent_job, result.of), eq(jobs.flow_step_id, result.gather), eq(jobs.deleted, true)),
      )
      .limit(1);
    if (gone) throw resultDeleted(id);
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
  if (gone) throw resultDeleted(gone.id);
}

function resultDeleted(step: string): BadRequest {
  return cannotRestart(`the result of step ${step} is not kept any more`);
}

interface IterationRestart {
  point: RestartPoint;
  n: number;
  module: FlowModule;
  state: FrameState;
  /** State of the step in the earlier run. */
  own: ModuleState | undefined;
}

/** Takes over the iterations before the nth. The first event of the new run is the completion of the last of them. */
async function restartInIteration(
  app: App,
  job: Job,
  { point, n, module, state, own }: IterationRestart,
): Promise<RestartState> {
  const { flow_job_id, step_id } = point;
  const { value } = module;
  if (value.type !== "forloopflow" && value.type !== "whileloopflow" && value.type !== "branchall") {
    throw new BadRequest(
      `step ${step_id} is neither a loop nor runs all its branches: it has no iteration or branch ${n}`,
    );
  }
  const items = value.type === "forloopflow" ? await getItems(app, flow_job_id, step_id) : undefined;
  const total = value.type === "branchall" ? value.branches.length : items?.length;
  if (total !== undefined && n >= total) {
    throw new BadRequest(
      `step ${step_id} has ${total} iterations or branches, counted from 0: there is no number ${n}`,
    );
  }
  const rows = await app.db.read
    .select()
    .from(jobs)
    .where(and(eq(jobs.parent_job, flow_job_id), eq(jobs.flow_step_id, step_id), lt(jobs.flow_index, n)))
    .orderBy(asc(jobs.id));
  // Of an iteration that ran again, the last run counts.
  const byIndex = new Map(rows.map((row) => [row.flow_index, row]));
  const iterations = Array.from({ length: n }, (_, index) => {
    const row = byIndex.get(index);
    const skips = value.type === "branchall" ? value.branches[index]?.skip_failure : value.skip_failures;
    const isGood = row?.status === "success" || row?.status === "skipped" || (row?.status && skips);
    if (!row || !isGood || row.deleted) {
      throw new BadRequest(
        `iteration or branch ${index} of step ${step_id} did not succeed in run ${flow_job_id}`,
      );
    }
    return {
      ...row,
      id: createUuid(),
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

async function getItems(app: App, run: string, module: string): Promise<unknown[]> {
  const [row] = await app.db.read
    .select({ items: flowItems.items })
    .from(flowItems)
    .where(and(eq(flowItems.job_id, run), eq(flowItems.module_id, module)));
  if (!row) throw new BadRequest(`step ${module} was not started in run ${run}`);
  return row.items;
}
