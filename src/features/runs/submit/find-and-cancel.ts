/** Finds, authorizes and cancels jobs. */

import { and, asc, desc, eq, inArray, isNull, ne, type SQL, sql } from "drizzle-orm";
import { preventIndexUse } from "../../../database/conditions.ts";
import type { Tx } from "../../../database/database.ts";
import type { Awaitable } from "../../../lib/async/awaitable.ts";
import { processInBatches } from "../../../lib/async/batches.ts";
import { BadRequest, Forbidden, NotFound, type SvcError, Unauthorized } from "../../../lib/errors.ts";
import { isUuid } from "../../../lib/text/ids.ts";
import type { App, AuditedAction, Caller, Context, WorkspaceContext } from "../../../platform/app/context.ts";
import { collectFollowUp } from "../../../platform/app/job-ends.ts";
import { rescheduleBlockedJobs, splitForRemoval } from "../../../platform/queue/concurrency.ts";
import { sliceQueue } from "../../../platform/queue/queued-slices.ts";
import { isFrame, SCRIPT_RUN_KINDS } from "../../../platform/queue/states.ts";
import { type Job, jobs } from "../../../platform/queue/tables.ts";
import { failLocking } from "../../code/flows/locks.ts";
import { isScopeAllowed } from "../../tenancy/tokens/scopes.ts";
import { cancelFlow, completeWithTransition } from "../flows/flow-events.ts";
import { createCanceledResult } from "../job/canceled.ts";
import { canChangeJob, canSeeJob, describeChangers, selectChangeableJobs } from "./job-rights.ts";

const DEFAULT_CANCEL_REASON = "canceled through the API";
/** Jobs canceled concurrently. */
const CANCEL_BATCH_SIZE = 50;

/** The part of a context that cancellation needs: the caller, and how to write with an audit row. */
export type CancelContext = Pick<Context, "app" | "username" | "write">;

/**
 * Returns the job if the caller may see it: the user or group it runs as, an admin, or a user who may read its path,
 * unless the job is invisible to owners.
 * @throws NotFound; BadRequest if an anonymous caller asks for a user's job
 */
export async function getJob(ctx: Context, workspace_id: string, id: string): Promise<Job> {
  const job = await findJob(ctx.app, workspace_id, id);
  if (!job || !canCallerSee(ctx.caller, job)) throw createHiddenJobError(ctx.caller, workspace_id, id);
  return job;
}

/**
 * Returns the job if the caller may also change it (cancel it, answer its approvals): of the users who may read its
 * path, only owners may.
 * @throws as `getJob`; Forbidden
 */
export async function getJobToChange(ctx: Context, workspace_id: string, id: string): Promise<Job> {
  const job = await getJob(ctx, workspace_id, id);
  if (!ctx.caller.member || canChangeJob(ctx.caller, job)) return job;
  const { username } = ctx.caller.member;
  throw new Forbidden(`${username} may see job ${job.id}, but not change it`, {
    hint: `${describeChangers(job)} may`,
  });
}

export async function findJob(app: App, workspace_id: string, id: string): Promise<Job | undefined> {
  if (!isUuid(id)) throw new BadRequest(`"${id.slice(0, 60)}" is not a job id: it must be a UUID`);
  const [job] = await app.db.read
    .select()
    .from(jobs)
    .where(and(eq(jobs.id, id.toLowerCase()), eq(jobs.workspace_id, workspace_id)));
  return job;
}

function canCallerSee(caller: Caller, job: Job): boolean {
  return canSeeJob(caller, job) && (!caller.member || isWithinScopes(caller, job));
}

/** Creates the error for a job that the caller may not see. It is the same for a job that does not exist. */
function createHiddenJobError({ identity, member }: Caller, workspace_id: string, id: string): SvcError {
  if (member) return new NotFound(`job ${id} in workspace ${workspace_id}`);
  if (identity) return new Unauthorized(`not a member of workspace ${workspace_id}`);
  return new BadRequest("log in to see this job: only jobs that were started without a login are public");
}

/** Whether the token's scopes cover the job. A token that only runs one script is often public. */
function isWithinScopes({ identity }: Caller, job: Job): boolean {
  return !identity || isScopeAllowed(identity, { domain: "jobs", action: "read" }, job.script_path ?? "");
}

/** Whether `job` is `other`, or was started by it at any depth. */
export async function isJobWithin(app: App, job: Job, other: string): Promise<boolean> {
  const seen = new Set<string>();
  for (let at: Job | undefined = job; at && !seen.has(at.id); ) {
    if (at.id === other) return true;
    seen.add(at.id);
    at = at.parent_job ? await findJob(app, job.workspace_id, at.parent_job) : undefined;
  }
  return false;
}

/** Follows a job's parents and returns the topmost one that still exists. */
export async function findRootJobId(app: App, job: Job): Promise<string> {
  const seen = new Set<string>();
  let at = job;
  while (at.parent_job && !seen.has(at.id)) {
    seen.add(at.id);
    const parent = await findJob(app, job.workspace_id, at.parent_job);
    if (!parent) break;
    at = parent;
  }
  return at.id;
}

/** Options of a cancellation. */
interface CancelOptions {
  /** Also completes a job that another, possibly lost, worker runs, instead of only asking it to stop. */
  force?: boolean;
  /**
   * Audit entry, if it differs from the operation's own. `nothing`: no audit row, because the job's row records the
   * cancellation.
   */
  as?: AuditedAction | "nothing";
}

/**
 * Cancels a job: completes a queued one at once, stops a running one with all jobs it started.
 * @returns a message for the caller
 */
export async function cancelJob(
  ctx: Context,
  workspace_id: string,
  id: string,
  reason: string | undefined,
  { force = false, as }: CancelOptions = {},
): Promise<string> {
  const job = await getJobToChange(ctx, workspace_id, id);
  if (job.state === "completed") return `job ${job.id} is already completed`;
  const whileRunning = force && !ctx.app.queue.has(job.id);
  await cancelUnfinishedJob(ctx, job, reason ?? DEFAULT_CANCEL_REASON, { whileRunning, as });
  return job.id;
}

/**
 * Cancels the given jobs that are unfinished and that the caller may change, except runs that a schedule has planned.
 * @returns ids of the canceled jobs
 */
export function cancelJobs(ctx: Context, workspace_id: string, ids: readonly string[]): Promise<string[]> {
  const cancelSome = async (some: readonly string[]) => {
    const found = await ctx.app.db.read
      .select()
      .from(jobs)
      .where(
        and(
          preventIndexUse(eq(jobs.workspace_id, workspace_id)),
          inArray(jobs.id, [...some]),
          ne(jobs.state, "completed"),
        ),
      );
    const wanted = found.filter((job) => canChangeJob(ctx.caller, job) && job.state !== "planned");
    await cancelTogether(ctx, wanted, DEFAULT_CANCEL_REASON);
    const ended = new Set(wanted.map(({ id }) => id));
    return some.filter((id) => ended.has(id));
  };
  return processInBatches([...new Set(ids)], cancelSome, CANCEL_BATCH_SIZE);
}

/**
 * Cancels all queued, scheduled and running runs of a script that the caller may change, including scripts that restart
 * themselves.
 */
export async function cancelScriptRuns(
  ctx: WorkspaceContext,
  path: string,
  reason: string | undefined,
): Promise<void> {
  const { workspace_id } = ctx.caller.member;
  const ofScript = and(eq(jobs.script_path, path), inArray(jobs.kind, SCRIPT_RUN_KINDS));
  const runs = and(eq(jobs.workspace_id, workspace_id), ofScript);
  await cancelJobsWhere(
    ctx,
    and(runs && preventIndexUse(runs), selectChangeableJobs(ctx.caller)),
    reason ?? DEFAULT_CANCEL_REASON,
  );
}

/**
 * Cancels all jobs that match a condition, in batches: running ones first, whose flow steps stop with them, then queued
 * ones.
 * @param which running and queued jobs, or running ones only
 */
export async function cancelJobsWhere(
  ctx: CancelContext,
  condition: SQL | undefined,
  reason: string,
  { which = "unfinished", as }: { which?: "unfinished" | "running"; as?: AuditedAction } = {},
): Promise<void> {
  const { read } = ctx.app.db;
  const cancelIn = async (slice: SQL | undefined) => {
    const found = await read
      .select({ id: jobs.id })
      .from(jobs)
      .where(and(slice, condition))
      // Top-level jobs first: steps of a canceled flow need no cancellation of their own.
      .orderBy(desc(isNull(jobs.flow_step_id)), asc(jobs.id));
    const cancelSome = async (some: readonly { id: string }[]) => {
      const ids = some.map(({ id }) => id);
      const rows = await read
        .select()
        .from(jobs)
        .where(and(inArray(jobs.id, ids), ne(jobs.state, "completed")));
      await cancelTogether(ctx, rows, reason, as);
      return [];
    };
    await processInBatches(found, cancelSome, CANCEL_BATCH_SIZE);
  };
  await cancelIn(sql`${jobs.state} = 'running'`);
  if (which === "running") return;
  for await (const slice of sliceQueue(read)) await cancelIn(slice);
}

/** Cancels unfinished jobs concurrently. Those of one concurrency key take its lock once, instead of in turn. */
async function cancelTogether(
  ctx: CancelContext,
  some: Job[],
  reason: string,
  as?: CancelOptions["as"],
): Promise<void> {
  const { firsts, others } = splitForRemoval(some);
  await Promise.all(others.map((job) => cancelUnfinishedJob(ctx, job, reason, { as, isFollowed: true })));
  await Promise.all(firsts.map((job) => cancelUnfinishedJob(ctx, job, reason, { as })));
}

/**
 * Cancels an unfinished job.
 * @param whileRunning also completes the row of a running job, instead of asking its worker to stop
 * @param isFollowed whether a job with the same concurrency key is canceled after it, which then reschedules the
 * blocked jobs
 */
async function cancelUnfinishedJob(
  ctx: CancelContext,
  job: Job,
  canceled_reason: string,
  {
    whileRunning = false,
    isFollowed = false,
    as,
  }: { whileRunning?: boolean; isFollowed?: boolean; as?: CancelOptions["as"] },
): Promise<void> {
  const { app } = ctx;
  const result = createCanceledResult(canceled_reason, ctx.username);
  const now = app.clock();
  const canceled = { canceled_by: ctx.username, canceled_reason };
  const write = <T>(work: (tx: Tx) => Awaitable<T>): Promise<T> =>
    as === "nothing"
      ? app.db.write(work)
      : ctx.write({ resource: job.id, ...(as ? { action: as } : {}) }, work);
  const cancelRunning = () => cancelFlow(app, job, { result, ...canceled }, write);
  if (isFrame(job.kind) && job.state === "running" && job.worker === null) {
    await cancelRunning();
    return;
  }
  const end = async (tx: Tx): Promise<boolean> => {
    const [ended] = await tx
      .update(jobs)
      .set({
        ...canceled,
        state: "completed",
        status: "canceled",
        result,
        preprocessor_input: null,
        completed_at: now,
        duration_ms: job.started_at ? Math.max(0, now.getTime() - job.started_at.getTime()) : 0,
      })
      .where(
        and(
          eq(jobs.id, job.id),
          whileRunning ? ne(jobs.state, "completed") : inArray(jobs.state, ["queued", "planned"]),
        ),
      )
      .returning({ id: jobs.id });
    // Even if it has completed in the meantime: the jobs canceled before may have been next in line for its key.
    if (job.concurrency_key !== null && !isFollowed) {
      await rescheduleBlockedJobs(tx, job, now);
      tx.afterCommit(app.queue.wake);
    }
    if (!ended) return false;
    await failLocking(app, tx, job, `the dependency job was canceled: ${canceled_reason}`);
    await collectFollowUp(app, job, "canceled")?.(tx);
    const told = { id: job.id, workspace_id: job.workspace_id, status: "canceled", result } as const;
    tx.afterCommit(() => app.events.publishFinished(told));
    return true;
  };
  /** Set if the flow has started in the meantime: no worker holds it, so none can be asked to stop it. */
  let hasBegun = false;
  const ask = async (tx: Tx): Promise<void> => {
    const [running] = await tx
      .update(jobs)
      .set({ ...canceled, cancel_requested: true })
      .where(and(eq(jobs.id, job.id), eq(jobs.state, "running")))
      .returning({ worker: jobs.worker });
    hasBegun = isFrame(job.kind) && running?.worker === null;
    tx.afterCommit(() => app.queue.cancel(job.id));
  };
  if (job.flow_step_id === null) {
    await write(async (tx) => void ((await end(tx)) || (await ask(tx))));
  } else if (!(await completeWithTransition(app, job, { status: "canceled", result }, end, write))) {
    await write(ask);
  }
  if (hasBegun) await cancelRunning();
}
