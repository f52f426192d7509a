/** Reading and canceling jobs. */
import { and, eq } from "drizzle-orm";
import type { App, Caller, Context } from "../../context.ts";
import { BadRequest, NotFound, Unauthorized } from "../../errors.ts";
import { isUuid } from "../../lib/ids.ts";
import { type Job, jobs } from "../../queue/tables.ts";
import { isOwner } from "../permissions.ts";
import { settleLock } from "../scripts/service.ts";

/**
 * The job, when the caller may see it: its runner, an admin, or an owner of its path unless it was made invisible.
 * @throws NotFound; BadRequest when nobody asks for somebody's job
 */
export async function getJob(ctx: Context, workspace_id: string, id: string): Promise<Job> {
  const job = await findJob(ctx.app, workspace_id, id);
  if (!job) throw new NotFound(`job ${id} in workspace ${workspace_id}`);
  requireVisible(ctx.caller, job);
  return job;
}

export async function findJob(app: App, workspace_id: string, id: string): Promise<Job | undefined> {
  if (!isUuid(id)) throw new BadRequest(`"${id.slice(0, 60)}" is not a job id: it must be a UUID`);
  const [job] = await app.db.read
    .select()
    .from(jobs)
    .where(and(eq(jobs.id, id.toLowerCase()), eq(jobs.workspace_id, workspace_id)));
  return job;
}

function requireVisible(caller: Caller, job: Job): void {
  if (!caller.member) {
    if (job.created_by === "anonymous") return;
    if (caller.identity) throw new Unauthorized(`not a member of workspace ${job.workspace_id}`);
    throw new BadRequest("log in to see this job: only jobs started by nobody are open to everybody");
  }
  if (!mayRead(caller, job)) throw new NotFound(`job ${job.id} in workspace ${job.workspace_id}`);
}

/** Whether a member may see a job. */
export function mayRead(
  caller: Caller,
  job: Pick<Job, "permissioned_as" | "email" | "script_path" | "visible_to_owner" | "created_by">,
): boolean {
  const { member } = caller;
  if (!member) return false;
  if (member.is_admin || job.permissioned_as === `u/${member.username}` || job.email === member.email)
    return true;
  return job.visible_to_owner && job.script_path !== null && isOwner(member, job.script_path);
}

/**
 * Cancels a job: a queued one is completed at once, a running one is stopped with everything it started.
 * @returns what happened, for the caller to read
 */
export async function cancelJob(
  ctx: Context,
  workspace_id: string,
  id: string,
  reason: string | undefined,
): Promise<string> {
  const { app } = ctx;
  const job = await getJob(ctx, workspace_id, id);
  if (job.state === "completed") return `job ${job.id} is already completed`;
  const canceled_reason = reason ?? "canceled through the API";
  const result = canceledResult(canceled_reason, ctx.username);
  const now = app.clock();
  await ctx.write({ resource: job.id }, async (tx) => {
    const [queued] = await tx
      .update(jobs)
      .set({
        state: "completed",
        status: "canceled",
        result,
        completed_at: now,
        duration_ms: 0,
        canceled_by: ctx.username,
        canceled_reason,
      })
      .where(and(eq(jobs.id, job.id), eq(jobs.state, "queued")))
      .returning({ id: jobs.id });
    if (queued) {
      if (job.kind === "dependencies") {
        await settleLock(app, tx, job, { error: `the dependency job was canceled: ${canceled_reason}` });
      }
      tx.afterCommit(() =>
        app.events.publishFinished({
          id: job.id,
          workspace_id: job.workspace_id,
          status: "canceled",
          result,
        }),
      );
      return;
    }
    await tx
      .update(jobs)
      .set({ cancel_requested: true, canceled_by: ctx.username, canceled_reason })
      .where(and(eq(jobs.id, job.id), eq(jobs.state, "running")));
    tx.afterCommit(() => app.queue.cancel(job.id));
  });
  return job.id;
}

/** The stored result of a canceled job, JSON text. */
export function canceledResult(reason: string, by: string): string {
  return JSON.stringify({
    error: { name: "Canceled", message: `Job canceled: ${reason} by ${by}`, reason, canceler: by },
  });
}
