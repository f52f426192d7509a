/** Restarts a flow run from one of its steps. */
import { BadRequest, Forbidden } from "../../../../lib/errors.ts";
import { parseJson, parseSchemaJson } from "../../../../lib/json/json.ts";
import { optionalField } from "../../../../lib/zod/fields.ts";
import * as z from "../../../../lib/zod/z.ts";
import type { WorkspaceContext } from "../../../../platform/app/context.ts";
import { type Operation, operation, responds } from "../../../../platform/http/operation.ts";
import type { Job } from "../../../../platform/queue/tables.ts";
import type { StoredFlow } from "../../../code/flows/value/walk-steps.ts";
import { requireScope } from "../../../tenancy/tokens/scopes.ts";
import { adjustForApprovals } from "../../approvals/carry-over.ts";
import { type RestartPoint, requireRestartable } from "../../flows/restart.ts";
import { getJob } from "../../submit/find-and-cancel.ts";
import { createFlowSubmission, type Submission } from "../../submit/submission.ts";
import { submitJob } from "../../submit/submit.ts";
import { resolveTarget } from "../../submit/target.ts";
import { AsyncQuery } from "../run/run-operations.ts";
import { createFlowPreviewSubmission } from "./preview-operations.ts";

const run = "/w/{workspace}/jobs/restart/f/{job_id}" as const;
const base = `${run}/from/{step_id}` as const;

/** Arguments that replace those of the earlier run; all others are reused. */
const Arguments = z.record(z.string(), z.unknown()).nullish();
type Arguments = z.output<typeof Arguments>;

const common = {
  method: "POST",
  access: "member",
  // The scope contains the flow's path, which is known only from the run.
  scope: false,
  query: AsyncQuery,
  body: Arguments,
  responds: responds.created("uuid of the new job"),
  audit: { operation: "jobs.restart", action_kind: "Execute" },
} as const;

/** Restarts a run with its own version, because its results belong to that version's steps. */
async function restartFlow(
  ctx: WorkspaceContext,
  point: RestartPoint,
  { body, query }: { body: Arguments; query: z.output<typeof AsyncQuery> },
): Promise<string> {
  const job = await getJob(ctx, ctx.caller.member.workspace_id, point.flow_job_id);
  requireRestartable(job);
  const args = { ...(parseJson(job.args) as object), ...body };
  const submission =
    job.raw_flow === null
      ? await createDeployedRestart(ctx, job, args, query)
      : await createUndeployedRestart(ctx, job, args, query);
  const restarted_from = await adjustForApprovals(ctx, point, submission);
  return (await submitJob(ctx, { ...submission, restarted_from }, query)).id;
}

async function createDeployedRestart(
  ctx: WorkspaceContext,
  job: Job,
  args: object,
  query: z.output<typeof AsyncQuery>,
): Promise<Submission> {
  const found = await resolveTarget(ctx, { flow_version: String(job.flow_version) });
  if (found.kind !== "flow") throw new BadRequest(`job ${job.id} is not a run of a flow`);
  return createFlowSubmission(ctx, found.flow, JSON.stringify(args), query);
}

async function createUndeployedRestart(
  ctx: WorkspaceContext,
  job: Job,
  args: Record<string, unknown> | object,
  query: z.output<typeof AsyncQuery>,
): Promise<Submission> {
  const { identity, member } = ctx.caller;
  requireScope(identity, { domain: "jobs", action: "run" }, undefined);
  if (member.operator) throw new Forbidden("operators may only run deployed scripts and flows");
  const preview = {
    value: parseSchemaJson(job.raw_flow ?? "null") as StoredFlow,
    path: job.script_path,
    tag: job.tag,
  };
  return createFlowPreviewSubmission(ctx, { ...preview, args: args as Record<string, unknown> }, query);
}

const restartFlowAtStep = operation({
  ...common,
  name: "restartFlowAtStep",
  path: base,
  summary: "Restart a flow run from a step, with the results of the steps before it",
  run: (ctx, { job_id, step_id, ...input }) => restartFlow(ctx, { flow_job_id: job_id, step_id }, input),
});

const restartFlowAtPart = operation({
  ...common,
  name: "restartFlowAtBranchOrIteration",
  path: `${base}/{branch_or_iteration_n}`,
  summary: "Restart a flow run from an iteration or branch of a step",
  run: (ctx, { job_id, step_id, branch_or_iteration_n: n, ...input }) => {
    if (!/^\d{1,9}$/.test(n)) throw new BadRequest(`"${n}" is not the number of an iteration or branch`);
    return restartFlow(ctx, { flow_job_id: job_id, step_id, branch_or_iteration_n: Number(n) }, input);
  },
});

/** For newer clients, which send the restart point in the body and reuse the arguments. */
const restartFlowAtPoint = operation({
  ...common,
  name: "restartFlowAtPoint",
  path: run,
  summary: "Restart a flow run from a step, iteration or branch given in the body",
  body: z.object({
    step_id: z.string().min(1),
    branch_or_iteration_n: optionalField(z.number().int().min(0)),
  }),
  run: (ctx, { job_id, body, query }) =>
    restartFlow(ctx, { flow_job_id: job_id, ...body }, { body: undefined, query }),
});

export const flowRestartOperations: Operation[] = [restartFlowAtStep, restartFlowAtPart, restartFlowAtPoint];
