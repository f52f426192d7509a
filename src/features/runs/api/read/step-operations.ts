/** Reads the steps of a flow run: the position of each job in the flow, and the approvals that it waits for. */
import { and, asc, eq, inArray } from "drizzle-orm";
import type { FrameState } from "../../../../engines/flow-engine/state.ts";
import { BadRequest } from "../../../../lib/errors.ts";
import * as z from "../../../../lib/zod/z.ts";
import type { WorkspaceContext } from "../../../../platform/app/context.ts";
import { type Operation, operation, responds } from "../../../../platform/http/operation.ts";
import { isFrame } from "../../../../platform/queue/states.ts";
import { type Job, jobs } from "../../../../platform/queue/tables.ts";
import { flowFrames } from "../../../code/flows/tables.ts";
import { PendingRequest, readPendingRequests } from "../../approvals/pending-requests.ts";
import { countPendingApprovals } from "../../flows/status/pending-approvals.ts";
import { JobRecord, type JobSummaryRow, lightColumns, toJobSummary } from "../../job/records.ts";
import { getJob } from "../../submit/find-and-cancel.ts";

/** Maximum number of jobs in one response. */
const MAX_STEPS = 2_000;
/** Maximum number of open approvals in one response. */
const MAX_REQUESTS = 50;

const StepJob = JobRecord.pick({
  type: true,
  id: true,
  created_at: true,
  started_at: true,
  scheduled_for: true,
  completed_at: true,
  running: true,
  duration_ms: true,
  success: true,
  is_skipped: true,
  canceled: true,
  suspend: true,
  job_kind: true,
  script_path: true,
})
  .extend({
    /** Job of the flow, iteration or branch that contains it. */
    parent_job: z.string(),
    step_id: z.string(),
    /** Number of the iteration or branch, from 0. */
    index: z.number().optional(),
  })
  .meta({ id: "FlowStepJob" });

const FlowSteps = z.object({
  /** Version of the deployed flow that it runs; null for an undeployed flow. */
  version: z.number().nullable(),
  steps: z.array(StepJob),
  /** Whether there are more jobs than listed. */
  truncated: z.boolean(),
  approvals: z.array(PendingRequest),
});

/** Returns the outermost run that a frame belongs to. @throws BadRequest for a job that is not a flow */
async function findRun(ctx: WorkspaceContext, job: Job): Promise<string> {
  if (!isFrame(job.kind)) throw new BadRequest(`job ${job.id} is not a flow but a ${job.kind}`);
  const [row] = await ctx.app.db.read
    .select({ root: flowFrames.root_job })
    .from(flowFrames)
    .where(eq(flowFrames.job_id, job.id));
  return row?.root ?? job.id;
}

/** Selects the jobs inside a job, at any depth. */
function keepInside(rows: JobSummaryRow[], job: string): JobSummaryRow[] {
  const parents = new Map(rows.map(({ id, parent_job }) => [id, parent_job]));
  const isInside = (parent: string | null | undefined): boolean =>
    parent === job || (typeof parent === "string" && isInside(parents.get(parent)));
  return rows.filter(({ parent_job }) => isInside(parent_job));
}

export const listFlowSteps = operation({
  name: "listFlowSteps",
  method: "GET",
  path: "/w/{workspace}/jobs/flow/steps/{flow_job_id}",
  access: "member",
  scope: { domain: "jobs", action: "read" },
  summary:
    "List the jobs of a flow's run with the step and iteration of each, and the approvals it waits for",
  responds: responds.json(FlowSteps, "without arguments, results and logs"),
  run: async (ctx, { workspace, flow_job_id }) => {
    const { app } = ctx;
    const job = await getJob(ctx, workspace, flow_job_id);
    const run = await findRun(ctx, job);
    const frames = app.db.read
      .select({ id: flowFrames.job_id })
      .from(flowFrames)
      .where(eq(flowFrames.root_job, run));
    const rows = await app.db.read
      .select(lightColumns)
      .from(jobs)
      .where(inArray(jobs.parent_job, frames))
      .orderBy(asc(jobs.created_at), asc(jobs.id))
      .limit(MAX_STEPS + 1);
    const inside = keepInside(rows.slice(0, MAX_STEPS), job.id);
    const open = inside.filter(({ kind, state }) => isFrame(kind) && state === "running");
    const waiting = await findWaitingFrames(ctx, run);
    const within = new Set([job.id, ...open.map(({ id }) => id)]);
    const missing = await countPendingApprovals(
      app,
      open.map(({ id }) => id),
    );
    return {
      version: job.flow_version,
      steps: inside.map((row) => toStepJob(row, missing.get(row.id))),
      truncated: rows.length > MAX_STEPS,
      approvals: await readPendingRequests(
        ctx,
        waiting.filter(({ job_id }) => within.has(job_id)).slice(0, MAX_REQUESTS),
      ),
    };
  },
});

async function findWaitingFrames({ app }: WorkspaceContext, run: string) {
  const rows = await app.db.read
    .select({ job_id: flowFrames.job_id, state: flowFrames.state })
    .from(flowFrames)
    .innerJoin(jobs, eq(jobs.id, flowFrames.job_id))
    .where(and(eq(flowFrames.root_job, run), eq(jobs.state, "running")));
  return rows
    .map(({ job_id, state }) => ({ job_id, state: state as FrameState }))
    .filter(({ state }) => state.waits?.for === "events");
}

function toStepJob(row: JobSummaryRow, suspend: number | undefined): z.input<typeof StepJob> {
  const { type, id, created_at, started_at, scheduled_for, completed_at, ...others } = toJobSummary(row);
  const { running, duration_ms, success, is_skipped, canceled, job_kind, script_path } = others;
  return {
    type,
    id,
    parent_job: row.parent_job!,
    step_id: row.flow_step_id ?? "",
    index: row.flow_index ?? undefined,
    ...{ created_at, started_at, scheduled_for, completed_at, duration_ms },
    ...{ running, success, is_skipped, canceled, suspend },
    ...{ job_kind, script_path },
  };
}

export const flowStepOperations: Operation[] = [listFlowSteps];
