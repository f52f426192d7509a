/** Permission to create signed links, and the approver's name in them. */
import { inArray } from "drizzle-orm";
import { Forbidden } from "../../../lib/errors.ts";
import { isOwner } from "../../../platform/access/permissions.ts";
import type { App, WorkspaceContext } from "../../../platform/app/context.ts";
import type { Job } from "../../../platform/queue/tables.ts";
import { flowFrames } from "../../code/flows/tables.ts";
import { findJob, getJob, getJobToChange } from "../submit/find-and-cancel.ts";
import { type LinkRequest, signApproval } from "./link-signature.ts";

/**
 * Signs a link. Callers who may change a job may create links in their own name, or without a name.
 * @throws NotFound; Forbidden for another approver's name
 */
export async function signApprovalLink(
  ctx: WorkspaceContext,
  workspace: string,
  request: LinkRequest,
): Promise<string> {
  const job = await getJobToChange(ctx, workspace, request.job_id);
  if (!(await canNameApprover(ctx, job, request.approver))) {
    throw new Forbidden("only scripts of the flow and its owners create links for other users", {
      hint: "leave `approver` out, or give your own name",
    });
  }
  return signApproval(ctx.app, workspace, request);
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
