/** `flow_status` of a job record: the status of each module of a flow. */
import { and, asc, eq } from "drizzle-orm";
import type { ApprovalConditions, FrameState, ModuleState } from "../../../../engines/flow-engine/state.ts";
import type { FlowModule } from "../../../../engines/flow-engine/types.ts";
import { parseSchemaJson } from "../../../../lib/json/json.ts";
import type * as z from "../../../../lib/zod/z.ts";
import type { App } from "../../../../platform/app/context.ts";
import { isFrame } from "../../../../platform/queue/states.ts";
import { type Job, jobs } from "../../../../platform/queue/tables.ts";
import { flowFrames, flowUserStates } from "../../../code/flows/tables.ts";
import type { FlowStatus, ModuleStatus } from "../../job/flow-status.ts";
import { type LiveFrame, loadFrame } from "../live-run.ts";
import { decodeRestartPoint } from "../restart.ts";
import { listApprovers } from "./approvers.ts";
import { countPendingApprovals } from "./pending-approvals.ts";

/** Maximum iterations listed by job id. */
const MAX_LISTED_JOBS = 10_000;

/**
 * Reads the status of a flow or of the modules of a loop or branch; undefined for other jobs, and before the flow has
 * begun.
 */
export async function readFlowStatus(app: App, job: Job): Promise<FlowStatus | undefined> {
  // The version of a planned run is fixed when it starts, which may happen between the two reads.
  if (!isFrame(job.kind) || job.state === "planned") return undefined;
  const [row] = await app.db.read.select().from(flowFrames).where(eq(flowFrames.job_id, job.id));
  if (!row) return undefined;
  const revived = await findFrame(app, job);
  if (!revived) return undefined;
  const { frame, flow } = revived;
  const state = row.state as FrameState;
  const modules = await Promise.all(
    frame.modules.map((module, index) => moduleStatus(app, job, module, state.modules[index])),
  );
  const approval = state.waits?.for === "events" ? state.waits.approval : undefined;
  for (const module of modules) {
    if (approval && module.type === "WaitingForEvents") module.count = approval.required_events;
  }
  const current = state.modules[state.step];
  const parent_module = (frame.modules[state.step] ?? frame.modules.at(-1))?.id ?? "";
  const states = await app.db.read.select().from(flowUserStates).where(eq(flowUserStates.job_id, job.id));
  const { failure_module, preprocessor_module } = flow.value;
  return {
    // An approval belongs to the step before: the next one waits for it.
    step: approval ? state.step + 1 : state.step,
    modules,
    failure_module: state.failure
      ? { ...(await moduleStatus(app, job, failure_module!, state.failure)), parent_module }
      : { type: "WaitingForPriorSteps", id: "failure", parent_module },
    ...(preprocessor_module && frame === flow.value
      ? { preprocessor_module: await moduleStatus(app, job, preprocessor_module, state.preprocessor) }
      : {}),
    ...(states.length > 0
      ? { user_states: Object.fromEntries(states.map(({ key, value }) => [key, value])) }
      : {}),
    restarted_from: decodeRestartPoint(job),
    retry: { fail_count: state.fail_count ?? 0, failed_jobs: current?.failed_retries ?? [] },
    ...(approval ? { approval_conditions: approvalConditions(approval) } : {}),
  };
}

/** Reads the fields that only records of flow jobs have. */
export async function readFlowFields(
  app: App,
  job: Job,
): Promise<{ flow_status?: FlowStatus | undefined; raw_flow?: unknown; suspend?: number | undefined }> {
  if (!isFrame(job.kind)) return {};
  return {
    flow_status: await readFlowStatus(app, job),
    suspend: job.state === "completed" ? undefined : (await countPendingApprovals(app, [job.id])).get(job.id),
    ...(job.raw_flow === null ? {} : { raw_flow: parseSchemaJson(job.raw_flow) }),
  };
}

/** Finds the frame of a job, running or not, through the surrounding frames; undefined if one was deleted. */
export async function findFrame(app: App, job: Job): Promise<LiveFrame | undefined> {
  if (job.deleted) return undefined;
  if (job.kind !== "flownode") return loadFrame(app, job, undefined);
  const [parent] = await app.db.read
    .select()
    .from(jobs)
    .where(eq(jobs.id, job.parent_job ?? ""));
  const around = parent && (await findFrame(app, parent));
  return around && loadFrame(app, job, around);
}

async function moduleStatus(
  app: App,
  job: Job,
  module: FlowModule,
  state: ModuleState | undefined,
): Promise<z.input<typeof ModuleStatus>> {
  if (!state) return { type: "WaitingForPriorSteps", id: module.id };
  const { type, job: child, branch_chosen, many, failed_retries, skipped } = state;
  return {
    type,
    id: module.id,
    ...(child ? { job: child } : {}),
    ...(skipped ? { skipped } : {}),
    ...(branch_chosen ? { branch_chosen } : {}),
    ...(failed_retries ? { failed_retries } : {}),
    ...(many || isLoop(module) ? await readIterations(app, job, module, state) : {}),
    ...(module.suspend && child ? { approvers: await listApprovers(app, child) } : {}),
  };
}

function isLoop({ value }: FlowModule): boolean {
  return value.type === "forloopflow" || value.type === "whileloopflow" || value.type === "branchall";
}

async function readIterations(app: App, job: Job, module: FlowModule, { many }: ModuleState) {
  const children = await app.db.read
    .select({ id: jobs.id, status: jobs.status, index: jobs.flow_index })
    .from(jobs)
    .where(and(eq(jobs.parent_job, job.id), eq(jobs.flow_step_id, module.id)))
    .orderBy(asc(jobs.flow_index), asc(jobs.id))
    .limit(MAX_LISTED_JOBS);
  const isDone = (status: string | null) =>
    status === null ? null : status === "success" || status === "skipped";
  const at = (many?.started ?? children.length) - 1;
  const len = many?.total ?? children.length;
  return {
    flow_jobs: children.map(({ id }) => id),
    flow_jobs_success: children.map(({ status }) => isDone(status)),
    ...(module.value.type === "branchall"
      ? { branchall: { branch: at, len } }
      : { iterator: { index: at, itered: [], itered_len: len } }),
  };
}

function approvalConditions({
  user_auth_required,
  user_groups_required,
  self_approval_disabled,
}: ApprovalConditions) {
  return { user_auth_required, user_groups_required, self_approval_disabled };
}
