/**
 * Answers approval requests: by a signed link, or as an owner of the flow.
 *
 * An approval, from link to answer: `link-signature.ts` signs the link, `links.ts` decides who may create one,
 * `approval-request.ts` decides who may answer, and `page.ts` shows the page. `recordApproval`
 * (runs/flows/flow-events.ts) stores the answer and the flow's next transition in one transaction. An answer that
 * arrives before the flow waits is counted when it begins to (`drive/approval-answers.ts`). `carry-over.ts` decides
 * which answers a restarted run keeps.
 */
import { and, eq } from "drizzle-orm";
import type { FrameState } from "../../../engines/flow-engine/state.ts";
import { BadRequest, Conflict, Forbidden } from "../../../lib/errors.ts";
import { parseJson } from "../../../lib/json/json.ts";
import { isOwner } from "../../../platform/access/permissions.ts";
import type { App, AuditedAction, Context, WorkspaceContext } from "../../../platform/app/context.ts";
import { isFrame } from "../../../platform/queue/states.ts";
import { type Job, jobs } from "../../../platform/queue/tables.ts";
import { type FlowResume, flowFrames } from "../../code/flows/tables.ts";
import { requireNoTriggerToken, requireScope } from "../../tenancy/tokens/scopes.ts";
import { escapeReferences, resolveAsCaller, runsWithOtherRights } from "../arguments/caller-references.ts";
import { escapeForwardedReferences } from "../arguments/forwarded-references.ts";
import type { RunAs } from "../arguments/password-arguments.ts";
import { listAnswers } from "../flows/drive/approval-answers.ts";
import { recordApproval } from "../flows/flow-events.ts";
import { findJob, getJob } from "../submit/find-and-cancel.ts";
import {
  type ApprovalRequest,
  findExpiryError,
  getApprovalRequest,
  requireCanAnswer,
} from "./approval-request.ts";
import type { LinkRequest } from "./link-signature.ts";

export const RESUME_AUDIT = {
  operation: "jobs.suspend_resume",
  action_kind: "Update",
} as const satisfies AuditedAction;
export const DISAPPROVAL_AUDIT = {
  operation: "jobs.disapproval",
  action_kind: "Update",
} as const satisfies AuditedAction;

export interface ApprovalAnswer {
  approved: boolean;
  /** The value of `resume` in the next step. */
  value: unknown;
}

/**
 * Stores an answer. If it decides the approval, the flow continues or fails in the same transaction. An answer before
 * the step has ended counts once the flow waits for it.
 * @throws Unauthorized, Forbidden as the step demands; BadRequest for a resume id already used; Conflict if it is too
 * late
 */
export async function answerApproval(
  ctx: Context,
  workspace_id: string,
  { job_id, resume_id, approver = callerName(ctx) }: LinkRequest,
  { approved, value }: ApprovalAnswer,
): Promise<void> {
  const { app, caller } = ctx;
  const asked = await getApprovalRequest(app, workspace_id, job_id);
  const { frame_id, root_job } = asked;
  const { email } = (await findJob(app, workspace_id, frame_id)) ?? asked.job;
  const stored = await resolveAnswerValue(ctx, { workspace_id, email }, value ?? null);
  const accept = async (state: FrameState | undefined): Promise<FlowResume> => {
    requireCanAnswer(caller, asked, state ?? asked.state);
    await requireUnusedResumeId(app, { job_id, resume_id });
    const late = findExpiryError(asked, state);
    if (late) throw late;
    const created_at = app.clock();
    return {
      job_id,
      resume_id,
      frame_id,
      approved,
      created_at,
      value: stored,
      approver: approver ?? null,
    };
  };
  const audited = {
    action: approved ? RESUME_AUDIT : DISAPPROVAL_AUDIT,
    resource: frame_id,
    parameters: { step_job: job_id, resume_id: String(resume_id), ...(approver ? { approver } : {}) },
  };
  await recordApproval(
    app,
    { root_job, frame_id },
    (frame) => accept(frame?.state),
    (work) => ctx.write(audited, work),
  );
}

/**
 * Resolves references in an answer as the caller, because the steps that read it run with the flow's rights. What a job
 * passes on of its input is data.
 */
async function resolveAnswerValue(ctx: Context, flow: RunAs, value: unknown): Promise<unknown> {
  const { identity, member } = ctx.caller;
  const hasOthers = !identity || runsWithOtherRights(identity, flow);
  if (!hasOthers && !identity.token?.job) return value;
  const given = JSON.stringify(value);
  if (!identity || !member) return parseJson(await escapeReferences(ctx.app, flow, given));
  const caller: WorkspaceContext = { ...ctx, caller: { identity, member } };
  const json = await escapeForwardedReferences(caller, given);
  return parseJson(hasOthers ? await resolveAsCaller(caller, flow, json) : json);
}

/** Returns the caller's name if logged in. A link made for somebody contains the name itself. */
function callerName({ caller, username }: Context): string | undefined {
  return caller.identity ? username : undefined;
}

async function requireUnusedResumeId(
  app: App,
  { job_id, resume_id }: Pick<LinkRequest, "job_id" | "resume_id">,
) {
  const given = await listAnswers(app, undefined, job_id);
  if (given.some((each) => each.resume_id === resume_id)) {
    throw new BadRequest(`resume id ${resume_id} was used already: each can be used once`);
  }
}

/**
 * Approves a waiting flow without a link.
 * @throws Forbidden for a token that only triggers runs, and if the caller owns neither the flow's path nor the
 * workspace; Conflict if the flow does not wait
 */
export async function approveAsOwner(
  ctx: WorkspaceContext,
  flow_job_id: string,
  value: unknown,
): Promise<void> {
  const { member, identity } = ctx.caller;
  requireNoTriggerToken(identity);
  const job = await getFlowJob(ctx, flow_job_id);
  requireFlowOwner(ctx, job);
  const asked = await getWaitingRequest(ctx.app, job);
  const resume_id = crypto.getRandomValues(new Uint32Array(1))[0]!;
  const request = { job_id: asked.job.id, resume_id, approver: undefined };
  await answerApproval(ctx, member.workspace_id, request, { approved: true, value });
}

/** Returns the job of a flow, if the caller may see it. @throws NotFound, BadRequest */
export async function getFlowJob(ctx: WorkspaceContext, id: string): Promise<Job> {
  const job = await getJob(ctx, ctx.caller.member.workspace_id, id);
  if (!isFrame(job.kind)) throw new BadRequest(`job ${job.id} is not a flow but a ${job.kind}`);
  return job;
}

/** Requires an owner of the flow. An undeployed flow has no path and belongs to the user who runs it. */
function requireFlowOwner({ caller: { member, identity } }: WorkspaceContext, job: Job): void {
  const { script_path, permissioned_as } = job;
  const owns =
    script_path === null ? permissioned_as === `u/${member.username}` : isOwner(member, script_path);
  if (!member.is_admin && !owns) {
    throw new Forbidden(`only an owner of ${script_path ?? "the flow"} may approve without a link`);
  }
  requireScope(identity, { domain: "jobs", action: "run", kind: "flows" }, script_path ?? undefined);
}

/** Returns the request that a flow waits for, or that a flow inside it waits for. */
export async function getWaitingRequest(app: App, job: Job): Promise<ApprovalRequest> {
  const frames = await app.db.read
    .select({ job_id: flowFrames.job_id, state: flowFrames.state })
    .from(flowFrames)
    .innerJoin(jobs, eq(jobs.id, flowFrames.job_id))
    .where(and(eq(flowFrames.root_job, job.root_job ?? job.id), eq(jobs.state, "running")));
  const waiting = frames.filter(({ state }) => (state as FrameState).waits?.for === "events");
  const own = waiting.find(({ job_id }) => job_id === job.id);
  const found = own ?? (waiting.length === 1 && job.flow_step_id === null ? waiting[0] : undefined);
  if (!found) {
    const others = waiting.map(({ job_id }) => job_id).slice(0, 20);
    const hint = others.length > 0 ? { hint: `what waits for approval in it: ${others.join(", ")}` } : {};
    throw new Conflict(`flow ${job.id} does not wait for approval`, hint);
  }
  const { step, modules } = found.state as FrameState;
  const asking = modules[step]?.job;
  if (!asking)
    throw new Conflict(
      `step ${modules[step]?.id} was skipped or had nothing to run: there is nothing to approve`,
    );
  return getApprovalRequest(app, job.workspace_id, asking);
}
