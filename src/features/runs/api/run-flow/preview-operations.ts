/** Running flows that are not deployed. */
import { z } from "zod";
import { BadRequest } from "../../../../lib/errors.ts";
import type { WorkspaceContext } from "../../../../platform/app/context.ts";
import { flag, moment, type Operation, operation, responds } from "../../../../platform/http/operation.ts";
import { lockWhatNeedsNothing } from "../../../code/flows/locks.ts";
import { FlowValue } from "../../../code/flows/value/open-flow.ts";
import { runnable } from "../../../code/flows/value/runnable.ts";
import { validateFlow } from "../../../code/flows/value/validate.ts";
import { pointAfterApprovals } from "../../approvals/carry-over.ts";
import { checkPoint, RestartPoint } from "../../flows/restart.ts";
import { errorStatusOf, resultResponse } from "../../follow/response-control.ts";
import { getJob } from "../../submit/service.ts";
import type { RunOptions, Submission } from "../../submit/submission.ts";
import { submitJob } from "../../submit/submit.ts";
import { submitAndWait } from "../../submit/wait.ts";
import { jobId } from "../run/run-operations.ts";

const base = "/w/{workspace}/jobs" as const;

const FlowPreview = z.object({
  value: FlowValue,
  args: z.record(z.string(), z.unknown()).default({}),
  path: z.string().nullish(),
  tag: z.string().nullish(),
  restarted_from: RestartPoint.nullish(),
});
export type FlowPreview = z.input<typeof FlowPreview>;

/**
 * The job that runs a flow as it is given.
 * @throws BadRequest for what has no form, naming the place
 */
export async function previewSubmission(
  ctx: WorkspaceContext,
  { value: given, args = {}, path, tag, restarted_from }: FlowPreview,
  options: RunOptions,
): Promise<Submission> {
  validateFlow(given);
  if (restarted_from) {
    checkPoint(await getJob(ctx, ctx.caller.member.workspace_id, restarted_from.flow_job_id));
  }
  const value = await lockedAsFarAsRead(given);
  const steps = runnable(value);
  const submission: Submission = {
    kind: "flowpreview",
    flow: { version: undefined, value: steps },
    raw_flow: JSON.stringify(value),
    script_path: path || undefined,
    script_hash: undefined,
    language: undefined,
    tag: options.tag || tag || "flow",
    priority: steps.priority ?? 0,
    timeout_s: undefined,
    args: JSON.stringify(args),
    visible_to_owner: !options.invisible_to_owner,
  };
  if (!restarted_from) return submission;
  return { ...submission, restarted_from: await pointAfterApprovals(ctx, restarted_from, submission) };
}

/** A script that does not parse fails the run when it comes to it. */
async function lockedAsFarAsRead(given: FlowValue): Promise<FlowValue> {
  try {
    return (await lockWhatNeedsNothing(given)).value;
  } catch (cause) {
    if (cause instanceof BadRequest) return given;
    throw cause;
  }
}

const query = z.object({
  scheduled_for: moment.optional(),
  job_id: jobId.optional(),
  tag: z.string().optional(),
  invisible_to_owner: flag.optional(),
});

const common = {
  access: "author",
  scope: { domain: "jobs", action: "run" },
  audit: { operation: "jobs.run.flow_preview", action_kind: "Execute" },
  query,
  body: FlowPreview,
} as const;

const runFlowPreview = operation({
  ...common,
  name: "runFlowPreview",
  method: "POST",
  path: `${base}/run/preview_flow`,
  summary: "Run a flow that is not deployed; answers before it runs",
  responds: responds.created("uuid of the job"),
  run: async (ctx, input) =>
    (await submitJob(ctx, await previewSubmission(ctx, input.body, input.query), input.query)).id,
});

const runWaitResultFlowPreview = operation({
  ...common,
  name: "runWaitResultFlowPreview",
  method: "POST",
  path: `${base}/run_wait_result/preview_flow`,
  summary: "Run a flow that is not deployed and answer its result",
  responds: responds.raw("application/json", "the result of the flow, as its response controls say"),
  run: async (ctx, input) => {
    const submission = await previewSubmission(ctx, input.body, input.query);
    const end = await submitAndWait(ctx, submission, input.query);
    const failed = end.status === "failure" || end.status === "canceled";
    return resultResponse(end.result, { failed, errorStatus: errorStatusOf(ctx.app) });
  },
});

export const flowPreviewOperations: Operation[] = [runFlowPreview, runWaitResultFlowPreview];
