/**
 * Reuses approvals of an earlier run when a flow is restarted. An approval is kept only for the same steps and
 * arguments, run as the same user, by a caller who may approve. Otherwise the step asks again.
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
import { listBodies } from "../flows/modules.ts";
import { decodeRestartPoint, type RestartPoint } from "../flows/restart.ts";
import { findFrame } from "../flows/status/status.ts";
import { getJob } from "../submit/find-and-cancel.ts";
import type { Submission } from "../submit/submission.ts";
import { resolveRunAs } from "../submit/submit.ts";
import { getApprovalRequest, requireCanAnswer } from "./approval-request.ts";

/** Ids in one query. */
const BATCH_SIZE = 500;

/**
 * Returns the restart point, or the first step before it whose approval does not count for the new run: the run
 * restarts there, so that the step asks again.
 * @throws NotFound for a run that the caller may not see
 */
export async function adjustForApprovals(
  ctx: WorkspaceContext,
  point: RestartPoint,
  next: Submission,
): Promise<RestartPoint> {
  const modules = next.flow?.value.modules ?? [];
  const index = modules.findIndex(({ id }) => id === point.step_id);
  // A restart within a loop also reuses the loop's earlier iterations.
  const taken = modules.slice(0, point.branch_or_iteration_n ? index + 1 : Math.max(index, 0));
  if (taken.length === 0) return point;
  const old = await getJob(ctx, ctx.caller.member.workspace_id, point.flow_job_id);
  const answered = await listAnsweredSteps(ctx.app, old);
  const isRestart = decodeRestartPoint(old) !== undefined;
  const asking = taken.filter((module) => answered.has(module.id) || canAskForApproval(module, isRestart));
  if (asking.length === 0) return point;
  const isSame = await isSameRun(ctx, old, next);
  for (const { id } of asking) {
    if (isSame && (await canAnswerAll(ctx, answered.get(id) ?? []))) continue;
    return { flow_job_id: point.flow_job_id, step_id: id };
  }
  return point;
}

/**
 * Whether a step or one inside it can ask for approval.
 * @param isRestart answers inside called flows cannot be found if that run had itself reused them
 */
function canAskForApproval(module: FlowModule, isRestart: boolean): boolean {
  if (module.suspend || (isRestart && module.value.type === "flow")) return true;
  return listBodies(module).some(({ modules }) =>
    modules.some((inner) => canAskForApproval(inner, isRestart)),
  );
}

/** Whether both runs have the same steps, arguments and users. */
async function isSameRun(ctx: WorkspaceContext, old: Job, next: Submission): Promise<boolean> {
  if (old.deleted) return false;
  const { permissioned_as, email, started_by } = resolveRunAs(ctx, next);
  if (old.permissioned_as !== permissioned_as || old.email !== email || old.started_by !== started_by) {
    return false;
  }
  if (!isDeepStrictEqual(parseJson(next.args), parseJson(old.args))) return false;
  const { version, value } = next.flow!;
  if (version !== undefined || old.flow_version !== null) return version === old.flow_version;
  const before = await findFrame(ctx.app, old);
  return isDeepStrictEqual(parseJson(JSON.stringify(value)), before?.flow.value);
}

async function canAnswerAll(ctx: WorkspaceContext, step_jobs: readonly string[]): Promise<boolean> {
  const { workspace_id } = ctx.caller.member;
  for (const job_id of step_jobs) {
    try {
      requireCanAnswer(ctx.caller, await getApprovalRequest(ctx.app, workspace_id, job_id));
    } catch (cause) {
      if (cause instanceof SvcError) return false;
      throw cause;
    }
  }
  return true;
}

/** Maps steps of the run to the jobs inside them whose approval was answered. */
async function listAnsweredSteps(app: App, old: Job): Promise<Map<string, string[]>> {
  const steps = new Map<string, string[]>();
  const [row] = await app.db.read.select().from(flowFrames).where(eq(flowFrames.job_id, old.id));
  if (!row) return steps;
  // A restarted run has results from steps of earlier runs.
  const runs = await listSourceRuns(app, old, (row.state as FrameState).modules);
  const roots = await listRoots(app, [...runs]);
  for (const answer of await listAnsweredJobs(app, roots)) {
    const step = await findStepOf(app, answer, runs);
    if (step === undefined) continue;
    const known = steps.get(step);
    if (known) known.push(answer);
    else steps.set(step, [answer]);
  }
  return steps;
}

async function listSourceRuns(app: App, old: Job, modules: readonly ModuleState[]): Promise<Set<string>> {
  const results = modules.flatMap((module) => (module?.result ? [module.result] : []));
  const made = results.flatMap((result) => ("job" in result ? [result.job] : []));
  const parents = await inBatches(made, (ids) =>
    app.db.read.select({ id: jobs.parent_job }).from(jobs).where(inArray(jobs.id, ids)),
  );
  const gathered = results.flatMap((result) => ("of" in result ? [result.of] : []));
  return new Set([old.id, ...gathered, ...parents.flatMap(({ id }) => id ?? [])]);
}

async function listRoots(app: App, frames: string[]): Promise<string[]> {
  const rows = await inBatches(frames, (ids) =>
    app.db.read.select({ root: flowFrames.root_job }).from(flowFrames).where(inArray(flowFrames.job_id, ids)),
  );
  return [...new Set(rows.map(({ root }) => root))];
}

/** Lists the jobs that were answered in these runs and all flows inside them. */
async function listAnsweredJobs(app: App, roots: string[]): Promise<Set<string>> {
  const rows = await inBatches(roots, (ids) =>
    app.db.read
      .selectDistinct({ job_id: flowResumes.job_id })
      .from(flowResumes)
      .innerJoin(flowFrames, eq(flowFrames.job_id, flowResumes.frame_id))
      .where(and(inArray(flowFrames.root_job, ids), eq(flowResumes.approved, true))),
  );
  return new Set(rows.map(({ job_id }) => job_id));
}

/** Finds the step of one of the runs that a job belongs to, at any depth. */
async function findStepOf(app: App, job_id: string, runs: ReadonlySet<string>): Promise<string | undefined> {
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
