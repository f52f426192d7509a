/** The approvals that a flow run waits for, in the form shown to users who answer them. */
import type { FrameState } from "../../../engines/flow-engine/state.ts";
import * as z from "../../../lib/zod/z.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { isoTimestamp } from "../../../platform/http/operation.ts";
import { listApprovers } from "../flows/status/approvers.ts";
import { describeChangers } from "../submit/job-rights.ts";
import { type ApprovalRequest, getApprovalRequest } from "./approval-request.ts";
import { describeRequest, findRefusal, readStepResult } from "./describe-request.ts";
import { createFormFields, toObject } from "./form.ts";
import { canSignLink } from "./links.ts";

export const PendingRequest = z.object({
  job_id: z.uuid(),
  flow_job_id: z.uuid(),
  step_id: z.string(),
  summary: z.string(),
  /** The step's description, or its result. */
  description: z.unknown(),
  /** JSON Schema of the value that the next step reads. */
  schema: z.record(z.string(), z.unknown()),
  required_events: z.number(),
  approvers: z.array(z.string()),
  /** Whether rejecting is hidden. */
  hide_cancel: z.boolean(),
  until: isoTimestamp,
  /** Why the caller may not answer without a link. */
  refusal: z.string().optional(),
});
export type PendingRequest = z.input<typeof PendingRequest>;

/** A frame of the run that has started. */
export interface WaitingFrame {
  job_id: string;
  state: FrameState;
}

/** Reads the requests of the frames that wait for approval. */
export async function readPendingRequests(
  ctx: WorkspaceContext,
  frames: readonly WaitingFrame[],
): Promise<PendingRequest[]> {
  const found = await Promise.all(frames.map((frame) => readPendingRequest(ctx, frame)));
  return found.filter((request) => request !== undefined);
}

async function readPendingRequest(
  ctx: WorkspaceContext,
  { job_id: flow_job_id, state }: WaitingFrame,
): Promise<PendingRequest | undefined> {
  const { waits, modules, step } = state;
  const job_id = modules[step]?.job;
  if (waits?.for !== "events" || !job_id) return undefined;
  const asked = await getApprovalRequest(ctx.app, ctx.caller.member.workspace_id, job_id);
  const approvers = await listApprovers(ctx.app, job_id);
  return {
    job_id,
    flow_job_id,
    step_id: asked.module.id,
    summary: asked.module.summary ?? "",
    description: describeRequest(asked),
    schema: createFormSchema(asked.suspend.resume_form, readStepResult(asked)),
    required_events: waits.approval.required_events,
    approvers: approvers.map(({ approver }) => approver),
    hide_cancel: asked.suspend.hide_cancel ?? false,
    until: new Date(waits.until),
    refusal: findRefusal(ctx, asked) ?? findMissingRight(ctx, asked),
  };
}

/** Returns why the caller may not create a link to answer with, as `signApprovalLink` would refuse it. */
function findMissingRight({ caller }: WorkspaceContext, asked: ApprovalRequest): string | undefined {
  if (canSignLink(caller, asked)) return undefined;
  return `only ${describeChangers(asked.job)} may, or users to whom they send a link`;
}

/** Returns the form's schema with the choices and defaults from the step's result. */
function createFormSchema(resume_form: unknown, hints: Record<string, unknown>): Record<string, unknown> {
  const schema = toObject(toObject(resume_form).schema);
  const properties = toObject(schema.properties);
  const fields = createFormFields(resume_form, hints).map(({ name, kind, options, default: value }) => {
    const given = {
      ...toObject(properties[name]),
      ...(kind === "choice" ? { enum: options } : {}),
      ...(value === undefined ? {} : { default: value }),
    };
    return [name, given] as const;
  });
  return { ...schema, type: "object", properties: Object.fromEntries(fields) };
}
