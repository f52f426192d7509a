/** Who may make a signed link, and in whose name it answers. */
import { inArray } from "drizzle-orm";
import { Forbidden } from "../../../lib/errors.ts";
import { isOwner } from "../../../platform/access/permissions.ts";
import type { App, WorkspaceContext } from "../../../platform/app/context.ts";
import type { Job } from "../../../platform/queue/tables.ts";
import { flowFrames } from "../../code/flows/tables.ts";
import { findJob, getJob } from "../submit/service.ts";
import { type Request, sign } from "./signature.ts";

/**
 * Signs a link. Who may see a job may make links for it in their own name, or in nobody's.
 * @throws NotFound; Forbidden in the name of somebody else
 */
export async function signFor(ctx: WorkspaceContext, workspace: string, request: Request): Promise<string> {
  const job = await getJob(ctx, workspace, request.job_id);
  if (!(await mayNameApprover(ctx, job, request.approver))) {
    throw new Forbidden("links for somebody else are made by scripts of the flow and by its owners", {
      hint: "leave `approver` out, or give your own name",
    });
  }
  return sign(ctx.app, workspace, request);
}

/** An answer by a link is recorded under the name it was made for: whoever starts a flow must not choose that. */
async function mayNameApprover(
  ctx: WorkspaceContext,
  job: Job,
  approver: string | undefined,
): Promise<boolean> {
  const { app, caller } = ctx;
  const { member, identity } = caller;
  if (approver === undefined || approver === member.username || approver === identity.email) return true;
  if (identity.token?.job)
    return isOfSameRun(app, job, await getJob(ctx, job.workspace_id, identity.token.job.id));
  const root = job.root_job === null ? job : await findJob(app, job.workspace_id, job.root_job);
  const path = root?.script_path ?? null;
  return member.is_admin || (path !== null && isOwner(member, path));
}

/** Whether both are steps of one run. Who starts a job may say what it belongs to, but not that it is a step. */
async function isOfSameRun({ db }: App, job: Job, own: Job): Promise<boolean> {
  if (job.parent_job === null || own.parent_job === null || own.flow_step_id === null) return false;
  const rows = await db.read
    .select({ frame: flowFrames.job_id, root: flowFrames.root_job })
    .from(flowFrames)
    .where(inArray(flowFrames.job_id, [job.parent_job, own.parent_job]));
  const rootOf = (frame: string | null) => rows.find((row) => row.frame === frame)?.root;
  return rootOf(own.parent_job) !== undefined && rootOf(own.parent_job) === rootOf(job.parent_job);
}
