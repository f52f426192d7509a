/** Answering a step that asks for approval: with a signed link, or as an owner of the flow. */
import { and, eq } from "drizzle-orm";
import type { FrameState } from "../../../engines/flow-engine/state.ts";
import { BadRequest, Conflict, Forbidden } from "../../../lib/errors.ts";
import { parseJson } from "../../../lib/json/json.ts";
import { isOwner } from "../../../platform/access/permissions.ts";
import type { App, Audit, Context, WorkspaceContext } from "../../../platform/app/context.ts";
import { isFrame } from "../../../platform/queue/states.ts";
import { type Job, jobs } from "../../../platform/queue/tables.ts";
import { type FlowResume, flowFrames } from "../../code/flows/tables.ts";
import { checkScopes, refuseTriggering } from "../../tenancy/tokens/scopes.ts";
import { asCallerReads, asSent, hasOtherRights } from "../arguments/caller-references.ts";
import type { Runner } from "../arguments/password-arguments.ts";
import { answersTo } from "../flows/drive/answers.ts";
import { answerFrame } from "../flows/flow-events.ts";
import { findJob, getJob } from "../submit/service.ts";
import { type Asked, askedBy, lateness, requireMayAnswer } from "./request.ts";
import type { Request } from "./signature.ts";

export const RESUMES = { operation: "jobs.suspend_resume", action_kind: "Update" } as const satisfies Audit;
export const REFUSES = { operation: "jobs.disapproval", action_kind: "Update" } as const satisfies Audit;

export interface Answer {
  approved: boolean;
  /** What the next step reads as `resume`. */
  value: unknown;
}

/**
 * Stores an answer; the flow goes on, or fails, in the same transaction when this one settles it. An answer may come
 * before the step has ended: it counts as soon as the flow waits for it.
 * @throws Unauthorized, Forbidden as the step demands; BadRequest for a resume id that was used; Conflict when it is too late
 */
export async function answer(
  ctx: Context,
  workspace_id: string,
  { job_id, resume_id, approver = nameOf(ctx) }: Request,
  { approved, value }: Answer,
): Promise<void> {
  const { app, caller } = ctx;
  const asked = await askedBy(app, workspace_id, job_id);
  const { frame_id, root_job } = asked;
  const { email } = (await findJob(app, workspace_id, frame_id)) ?? asked.job;
  const stored = await asGiven(ctx, { workspace_id, email }, value ?? null);
  const accept = async (state: FrameState | undefined): Promise<FlowResume> => {
    requireMayAnswer(caller, asked, state ?? asked.state);
    await refuseRepeated(app, { job_id, resume_id });
    const late = lateness(asked, state);
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
    as: approved ? RESUMES : REFUSES,
    resource: frame_id,
    parameters: { step_job: job_id, resume_id: String(resume_id), ...(approver ? { approver } : {}) },
  };
  await answerFrame(
    app,
    { root_job, frame_id },
    (frame) => accept(frame?.state),
    (work) => ctx.write(audited, work),
  );
}

/** The steps that read an answer run with the flow's rights, which whoever answers need not have. */
async function asGiven(ctx: Context, flow: Runner, value: unknown): Promise<unknown> {
  const { identity, member } = ctx.caller;
  if (identity && !hasOtherRights(identity, flow)) return value;
  const json = JSON.stringify(value);
  if (!identity || !member) return parseJson(await asSent(ctx.app, flow, json));
  return parseJson(await asCallerReads({ ...ctx, caller: { identity, member } }, flow, json));
}

/** Whoever is logged in; a link that was made for somebody says so itself. */
function nameOf({ caller, username }: Context): string | undefined {
  return caller.identity ? username : undefined;
}

async function refuseRepeated(app: App, { job_id, resume_id }: Pick<Request, "job_id" | "resume_id">) {
  const given = await answersTo(app, undefined, job_id);
  if (given.some((each) => each.resume_id === resume_id)) {
    throw new BadRequest(`resume id ${resume_id} was used already: each answers once`);
  }
}

/**
 * Approves what a flow waits for, without a link.
 * @throws Forbidden for a token that only triggers something, and when the caller owns neither the flow's path nor the workspace, Conflict when nothing is waited for
 */
export async function approveAsOwner(
  ctx: WorkspaceContext,
  flow_job_id: string,
  value: unknown,
): Promise<void> {
  const { member, identity } = ctx.caller;
  refuseTriggering(identity);
  const job = await flowJob(ctx, flow_job_id);
  requireOwner(ctx, job);
  const asked = await waitingIn(ctx.app, job);
  const resume_id = crypto.getRandomValues(new Uint32Array(1))[0]!;
  const request = { job_id: asked.job.id, resume_id, approver: undefined };
  await answer(ctx, member.workspace_id, request, { approved: true, value });
}

/** The job of a flow, when the caller may see it. @throws NotFound, BadRequest */
export async function flowJob(ctx: WorkspaceContext, id: string): Promise<Job> {
  const job = await getJob(ctx, ctx.caller.member.workspace_id, id);
  if (!isFrame(job.kind)) throw new BadRequest(`job ${job.id} is no flow but a ${job.kind}`);
  return job;
}

/** A flow that is not deployed has no path: it belongs to whoever runs it. */
function requireOwner({ caller: { member, identity } }: WorkspaceContext, job: Job): void {
  const { script_path, permissioned_as } = job;
  const owns =
    script_path === null ? permissioned_as === `u/${member.username}` : isOwner(member, script_path);
  if (!member.is_admin && !owns) {
    throw new Forbidden(`only an owner of ${script_path ?? "the flow"} may approve without a link`);
  }
  checkScopes(identity, { domain: "jobs", action: "run", kind: "flows" }, script_path ?? undefined);
}

/** The step that a flow waits for; where the outermost flow itself does not wait, one inside it. */
async function waitingIn(app: App, job: Job): Promise<Asked> {
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
  if (!asking) throw new Conflict(`step ${modules[step]?.id} had nothing to run: nobody can answer for it`);
  return askedBy(app, job.workspace_id, asking);
}
