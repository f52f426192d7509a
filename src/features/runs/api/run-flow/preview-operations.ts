/** Runs flows that are not deployed. */
import { BadRequest } from "../../../../lib/errors.ts";
import * as z from "../../../../lib/zod/z.ts";
import type { WorkspaceContext } from "../../../../platform/app/context.ts";
import {
  isoTimestamp,
  type Operation,
  operation,
  queryBoolean,
  responds,
} from "../../../../platform/http/operation.ts";
import { lockTrivialScripts } from "../../../code/flows/locks.ts";
import { OpenFlowValue } from "../../../code/flows/value/open-flow.ts";
import { toRunnableFlow } from "../../../code/flows/value/to-runnable.ts";
import { validateFlow } from "../../../code/flows/value/validate.ts";
import { adjustForApprovals } from "../../approvals/carry-over.ts";
import { RestartPoint, requireRestartable } from "../../flows/restart.ts";
import { createResultResponse, getErrorStatus } from "../../follow/response-control.ts";
import { getJob } from "../../submit/find-and-cancel.ts";
import type { RunOptions, Submission } from "../../submit/submission.ts";
import { submitJob } from "../../submit/submit.ts";
import { submitAndWait } from "../../submit/wait.ts";
import { jobIdSchema } from "../run/run-operations.ts";

const base = "/w/{workspace}/jobs" as const;

const FlowPreview = z.object({
  value: OpenFlowValue,
  args: z.record(z.string(), z.unknown()).default({}),
  path: z.string().nullish(),
  tag: z.string().nullish(),
  restarted_from: RestartPoint.nullish(),
});
export type FlowPreview = z.input<typeof FlowPreview>;

/**
 * Creates the submission of an undeployed flow.
 * @throws BadRequest for an invalid flow, naming the place
 */
export async function createFlowPreviewSubmission(
  ctx: WorkspaceContext,
  { value: given, args = {}, path, tag, restarted_from }: FlowPreview,
  options: RunOptions,
): Promise<Submission> {
  validateFlow(given);
  if (restarted_from) {
    requireRestartable(await getJob(ctx, ctx.caller.member.workspace_id, restarted_from.flow_job_id));
  }
  const value = await addKnownLocks(ctx.caller.member.workspace_id, given);
  const steps = toRunnableFlow(value);
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
  return { ...submission, restarted_from: await adjustForApprovals(ctx, restarted_from, submission) };
}

/** Adds locks that need no resolution. A script that does not parse is left as it is and fails when its step runs. */
async function addKnownLocks(workspace_id: string, given: OpenFlowValue): Promise<OpenFlowValue> {
  try {
    return (await lockTrivialScripts(workspace_id, given)).value;
  } catch (cause) {
    if (cause instanceof BadRequest) return given;
    throw cause;
  }
}

const query = z.object({
  scheduled_for: isoTimestamp.optional(),
  job_id: jobIdSchema.optional(),
  tag: z.string().optional(),
  invisible_to_owner: queryBoolean.optional(),
});

const common = {
  access: "author",
  scope: { domain: "jobs", action: "run" },
  audit: { operation: "jobs.run.flow_preview", action_kind: "Execute" },
  query,
  body: FlowPreview,
} as const;

export const runFlowPreview = operation({
  ...common,
  name: "runFlowPreview",
  method: "POST",
  path: `${base}/run/preview_flow`,
  summary: "Run an undeployed flow asynchronously",
  responds: responds.created("uuid of the job"),
  run: async (ctx, input) =>
    (await submitJob(ctx, await createFlowPreviewSubmission(ctx, input.body, input.query), input.query)).id,
});

const runWaitResultFlowPreview = operation({
  ...common,
  name: "runWaitResultFlowPreview",
  method: "POST",
  path: `${base}/run_wait_result/preview_flow`,
  summary: "Run an undeployed flow and return its result",
  responds: responds.raw("application/json", "the result of the flow, as its response controls say"),
  run: async (ctx, input) => {
    const submission = await createFlowPreviewSubmission(ctx, input.body, input.query);
    const end = await submitAndWait(ctx, submission, input.query);
    const failed = end.status === "failure" || end.status === "canceled";
    return createResultResponse(end.result, { failed, errorStatus: getErrorStatus(ctx.app) });
  },
});

export const flowPreviewOperations: Operation[] = [runFlowPreview, runWaitResultFlowPreview];
