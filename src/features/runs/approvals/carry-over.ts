/**
 * Approvals of an earlier run, where another one goes on from it. One counts only for what it was given for: the same
 * steps and arguments, run in the same name, by somebody who may give it. Else it is asked for again.
 */
import { isDeepStrictEqual } from "node:util";
import { and, eq, inArray } from "drizzle-orm";
import type { FrameState, ModuleState } from "../../../engines/flow-engine/state.ts";
import type { FlowModule } from "../../../engines/flow-engine/types.ts";
import { SvcError } from "../../../lib/errors.ts";
import { parseJson } from "../../../lib/json/json.ts";
import type { App, WorkspaceContext } from "../../../platform/app/context.ts";
import { type Job, jobs } from "../../../platform/queue/tables.ts";
import { flowFrames, flowResumes } from "../../code/flows/tables.ts";
import { bodiesOf } from "../flows/modules.ts";
import { pointOf, type RestartPoint } from "../flows/restart.ts";
import { frameOf } from "../flows/status/status.ts";
import { getJob } from "../submit/service.ts";
import type { Submission } from "../submit/submission.ts";
import { runsAs } from "../submit/submit.ts";
import { askedBy, requireMayAnswer } from "./request.ts";

/** Ids that one query is asked for. */
const BATCH_SIZE = 500;

/**
 * Returns the point itself, or the first step before it whose approval does not count for the new run: the run begins
 * there, so that the step asks again.
 * @throws NotFound for a run that the caller may not see
 */
export async function pointAfterApprovals(
  ctx: WorkspaceContext,
  point: RestartPoint,
  next: Submission,
): Promise<RestartPoint> {
  const modules = next.flow?.value.modules ?? [];
  const index = modules.findIndex(({ id }) => id === point.step_id);
  // Of a loop that begins in the middle, the iterations before are taken over too.
  const taken = modules.slice(0, point.branch_or_iteration_n ? index + 1 : Math.max(index, 0));
  if (taken.length === 0) return point;
  const old = await getJob(ctx, ctx.caller.member.workspace_id, point.flow_job_id);
  const answered = await answeredSteps(ctx.app, old);
  const isRestart = pointOf(old) !== undefined;
  const asking = taken.filter((module) => answered.has(module.id) || mayAsk(module, isRestart));
  if (asking.length === 0) return point;
  const isSame = await isSameRun(ctx, old, next);
  for (const { id } of asking) {
    if (isSame && (await mayAnswerAll(ctx, answered.get(id) ?? []))) continue;
    return { flow_job_id: point.flow_job_id, step_id: id };
  }
  return point;
}

/** @param isRestart the answers inside of flows that were called cannot be found again where they were taken over once */
function mayAsk(module: FlowModule, isRestart: boolean): boolean {
  if (module.suspend || (isRestart && module.value.type === "flow")) return true;
  return bodiesOf(module).some(({ modules }) => modules.some((inner) => mayAsk(inner, isRestart)));
}

/** Whether the new run has the steps and arguments of the old one, and the same people behind it. */
async function isSameRun(ctx: WorkspaceContext, old: Job, next: Submission): Promise<boolean> {
  if (old.deleted) return false;
  const { permissioned_as, email, started_by } = runsAs(ctx, next);
  if (old.permissioned_as !== permissioned_as || old.email !== email || old.started_by !== started_by) {
    return false;
  }
  if (!isDeepStrictEqual(parseJson(next.args), parseJson(old.args))) return false;
  const { version, value } = next.flow!;
  if (version !== undefined || old.flow_version !== null) return version === old.flow_version;
  const before = await frameOf(ctx.app, old);
  return isDeepStrictEqual(parseJson(JSON.stringify(value)), before?.flow.value);
}

async function mayAnswerAll(ctx: WorkspaceContext, step_jobs: readonly string[]): Promise<boolean> {
  const { workspace_id } = ctx.caller.member;
  for (const job_id of step_jobs) {
    try {
      requireMayAnswer(ctx.caller, await askedBy(ctx.app, workspace_id, job_id));
    } catch (cause) {
      if (cause instanceof SvcError) return false;
      throw cause;
    }
  }
  return true;
}

/** The jobs that asked and were answered, by the step of the run that they are, or that they ran inside of. */
async function answeredSteps(app: App, old: Job): Promise<Map<string, string[]>> {
  const steps = new Map<string, string[]>();
  const [row] = await app.db.read.select().from(flowFrames).where(eq(flowFrames.job_id, old.id));
  if (!row) return steps;
  // A run that took over results itself has them from steps of earlier runs.
  const runs = await runsBehind(app, old, (row.state as FrameState).modules);
  const roots = await rootsOf(app, [...runs]);
  for (const answer of await answersIn(app, roots)) {
    const step = await stepOf(app, answer, runs);
    if (step === undefined) continue;
    const known = steps.get(step);
    if (known) known.push(answer);
    else steps.set(step, [answer]);
  }
  return steps;
}

async function runsBehind(app: App, old: Job, modules: readonly ModuleState[]): Promise<Set<string>> {
  const results = modules.flatMap((module) => (module?.result ? [module.result] : []));
  const made = results.flatMap((result) => ("job" in result ? [result.job] : []));
  const parents = await inBatches(made, (ids) =>
    app.db.read.select({ id: jobs.parent_job }).from(jobs).where(inArray(jobs.id, ids)),
  );
  const gathered = results.flatMap((result) => ("of" in result ? [result.of] : []));
  return new Set([old.id, ...gathered, ...parents.flatMap(({ id }) => id ?? [])]);
}

async function rootsOf(app: App, frames: string[]): Promise<string[]> {
  const rows = await inBatches(frames, (ids) =>
    app.db.read.select({ root: flowFrames.root_job }).from(flowFrames).where(inArray(flowFrames.job_id, ids)),
  );
  return [...new Set(rows.map(({ root }) => root))];
}

/** Ids of the jobs that were answered in these runs and all flows inside them. */
async function answersIn(app: App, roots: string[]): Promise<Set<string>> {
  const rows = await inBatches(roots, (ids) =>
    app.db.read
      .selectDistinct({ job_id: flowResumes.job_id })
      .from(flowResumes)
      .innerJoin(flowFrames, eq(flowFrames.job_id, flowResumes.frame_id))
      .where(and(inArray(flowFrames.root_job, ids), eq(flowResumes.approved, true))),
  );
  return new Set(rows.map(({ job_id }) => job_id));
}

/** The step of one of the runs that a job belongs to, however deep inside. */
async function stepOf(app: App, job_id: string, runs: ReadonlySet<string>): Promise<string | undefined> {
  for (let id: string | null = job_id; id !== null; ) {
    const [job]: { parent: string | null; step: string | null }[] = await app.db.read
      .select({ parent: jobs.parent_job, step: jobs.flow_step_id })
      .from(jobs)
      .where(eq(jobs.id, id));
    if (!job || job.parent === null) return undefined;
    if (runs.has(job.parent)) return job.step ?? undefined;
    id = job.parent;
  }
  return undefined;
}

async function inBatches<T>(ids: readonly string[], read: (ids: string[]) => PromiseLike<T[]>): Promise<T[]> {
  const rows: T[] = [];
  for (let at = 0; at < ids.length; at += BATCH_SIZE)
    rows.push(...(await read(ids.slice(at, at + BATCH_SIZE))));
  return rows;
}
