/** Permission to create signed links, and the approver's name in them. */
import { inArray } from "drizzle-orm";
import { Forbidden } from "../../../lib/errors.ts";
import { isOwner } from "../../../platform/access/permissions.ts";
import type { App, Caller, WorkspaceContext } from "../../../platform/app/context.ts";
import type { Job } from "../../../platform/queue/tables.ts";
import { flowFrames } from "../../code/flows/tables.ts";
import { findJob, getJob, getJobToChange } from "../submit/find-and-cancel.ts";
import { canChangeJob } from "../submit/job-rights.ts";
import { type ApprovalRequest, getApprovalRequest, isNamedApprover } from "./approval-request.ts";
import { type LinkRequest, signApproval } from "./link-signature.ts";

/** Returns whether the caller may create links in their own name to answer a request: its approvers may, too. */
export function canSignLink(caller: Caller, asked: ApprovalRequest): boolean {
  return canChangeJob(caller, asked.job) || isNamedApprover(caller, asked);
}

/**
 * Signs a link. Callers who may change a job, and members of the groups that its step names, may create links in their
 * own name, or without a name.
 * @throws NotFound; Forbidden, also for another approver's name
 */
export async function signApprovalLink(
  ctx: WorkspaceContext,
  workspace: string,
  request: LinkRequest,
): Promise<string> {
  const job = await getJobToAnswer(ctx, workspace, request.job_id);
  if (!(await canNameApprover(ctx, job, request.approver))) {
    throw new Forbidden("only scripts of the flow and its owners create links for other users", {
      hint: "leave `approver` out, or give your own name",
    });
  }
  return signApproval(ctx.app, workspace, request);
}

/** @throws as `getJobToChange`; BadRequest for a step without approval */
async function getJobToAnswer(ctx: WorkspaceContext, workspace: string, job_id: string): Promise<Job> {
  const job = await getJob(ctx, workspace, job_id);
  const isStep = job.flow_step_id !== null && job.parent_job !== null;
  if (isStep && !canChangeJob(ctx.caller, job)) {
    const asked = await getApprovalRequest(ctx.app, workspace, job_id);
    if (canSignLink(ctx.caller, asked)) return job;
  }
  return getJobToChange(ctx, workspace, job_id);
}

/**
 * Returns whether the caller may choose the approver. An answer by link is recorded under that name, so users who start
 * a flow may not.
 */
async function canNameApprover(
  ctx: WorkspaceContext,
  job: Job,
  approver: string | undefined,
): Promise<boolean> {
  const { app, caller } = ctx;
  const { member, identity } = caller;
  if (approver === undefined || approver === member.username || approver === identity.email) return true;
  if (identity.token?.job)
    return isInSameRun(app, job, await getJob(ctx, job.workspace_id, identity.token.job.id));
  const root = job.root_job === null ? job : await findJob(app, job.workspace_id, job.root_job);
  const path = root?.script_path ?? null;
  return member.is_admin || (path !== null && isOwner(member, path));
}

/** Returns whether both are steps of one run. Callers can choose a job's parent, but not that it is a step. */
async function isInSameRun({ db }: App, job: Job, own: Job): Promise<boolean> {
  if (job.parent_job === null || own.parent_job === null || own.flow_step_id === null) return false;
  const rows = await db.read
    .select({ frame: flowFrames.job_id, root: flowFrames.root_job })
    .from(flowFrames)
    .where(inArray(flowFrames.job_id, [job.parent_job, own.parent_job]));
  const rootOf = (frame: string | null) => rows.find((row) => row.frame === frame)?.root;
  return rootOf(own.parent_job) !== undefined && rootOf(own.parent_job) === rootOf(job.parent_job);
}

/**
 * Returns the URL of the page on which a person answers.
 * @param payload what the next step reads, as in the links for programs
 */
export function createPageUrl(
  { urls }: App,
  workspace: string,
  { job_id, resume_id, approver }: LinkRequest,
  signature: string,
  payload?: string,
): string {
  const query = new URLSearchParams({ ...(approver && { approver }), ...(payload && { payload }) });
  const search = query.size > 0 ? `?${query}` : "";
  const tail = [workspace, job_id, String(resume_id), signature].map(encodeURIComponent).join("/");
  return `${urls.base}/approve/${tail}${search}`;
}
