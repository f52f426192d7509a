/** Submitting a job: nothing is answered before its row is committed. */
import { and, eq, lte, sql } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import { BadRequest, Unavailable } from "../../../lib/errors.ts";
import { newJobId } from "../../../lib/text/ids.ts";
import type { App, Context, Identity, Member, WorkspaceContext } from "../../../platform/app/context.ts";
import { refuseWhileDraining } from "../../../platform/http/execute.ts";
import { leaveBody } from "../../../platform/http/large-bodies.ts";
import { hasPlace } from "../../../platform/queue/concurrency.ts";
import { insertJob } from "../../../platform/queue/job-store.ts";
import type { Reservation } from "../../../platform/queue/queue.ts";
import { type Job, jobs } from "../../../platform/queue/tables.ts";
import { checkTag } from "../../tenancy/tokens/scopes.ts";
import { refuseClosed } from "../../tenancy/workspaces/gate.ts";
import { discardUploads } from "../arguments/form-data.ts";
import { keepSeals, StaleSeal } from "../arguments/stale-ciphertext.ts";
import { beginFlow } from "../flows/flow-events.ts";
import type { Plan } from "../flows/plan/plan.ts";
import { storedPoint } from "../flows/restart.ts";
import { isOpenTag, refuseTag } from "../job/custom-tags.ts";
import { storedEntrypoint } from "../job/entrypoints.ts";
import { UNFINISHED } from "../job/row-defaults.ts";
import { type RunOptions, resealedSubmission, type Submission } from "./submission.ts";

export interface SubmitHow {
  /** `options.job_id` was made here, so that nobody else can know it. */
  ownId?: boolean;
  /** Stored together with the job. */
  also?: (tx: Tx, job_id: string) => Promise<void>;
}

/** The audit row of a run of a deployed flow, by whichever operation. */
export const RUN_FLOW = { operation: "jobs.run.flow", action_kind: "Execute" } as const;

/** @throws Forbidden for a tag that the token may not run, or that is not for everybody in the workspace */
export function requireTag({ app, caller }: WorkspaceContext, submission: Submission): void {
  const { identity, member } = caller;
  const { tag, tag_as_written: written, is_tag_inherited } = submission;
  if (identity.token?.scopes) checkTag(identity, tag);
  if (is_tag_inherited || identity.super_admin) return;
  if (!isOpenTag(app, member.workspace_id, { tag, written })) refuseTag(member.workspace_id, tag);
}

/** What a group's job starts, the group starts. A person may be called otherwise than when their job began. */
function actsAs({ token }: Identity, { username }: Member): string {
  const own = token?.job?.permissioned_as;
  return own?.startsWith("g/") ? own : `u/${username}`;
}

/** In whose name a submission runs, and who started it where that is somebody else. */
export function runsAs({ caller }: WorkspaceContext, { runs_as }: Submission) {
  const { identity, member } = caller;
  return {
    permissioned_as: runs_as?.permissioned_as ?? actsAs(identity, member),
    email: runs_as?.email ?? identity.email,
    started_by: runs_as ? identity.email : null,
  };
}

/**
 * Stores the job and wakes the worker. With room in the pool it is stored as running and handed over after the commit,
 * which saves the claim.
 * @throws Unavailable while draining, Forbidden for a tag that the token may not run, BadRequest for a job_id that is known
 */
export async function submitJob(
  ctx: WorkspaceContext,
  submission: Submission,
  options: RunOptions,
  how: SubmitHow = {},
): Promise<Job> {
  try {
    return await submitOnce(ctx, submission, options, how).catch(async (cause) => {
      if (!(cause instanceof StaleSeal)) throw cause;
      return submitOnce(ctx, await resealedSubmission(ctx, submission), options, how);
    });
  } catch (error) {
    await discardUploads(ctx.request);
    throw error;
  } finally {
    leaveBody(ctx.request);
  }
}

async function submitOnce(
  ctx: WorkspaceContext,
  submission: Submission,
  options: RunOptions,
  how: SubmitHow,
): Promise<Job> {
  const { app } = ctx;
  refuseWhileDraining(app);
  requireTag(ctx, submission);
  const now = app.clock();
  const scheduled_for = dueAt(options, now);
  const isDue = scheduled_for <= now;
  if (submission.delete_after_use && !app.queue.hasWorker())
    throw new Unavailable("there is no worker here for a job that is kept nowhere");
  using room = isDue && mayBeHanded(submission) ? app.queue.reserve(submission.tag) : undefined;
  const hand = wayToWorker(app, submission, room);
  // A flow needs no slot to begin: its steps do.
  const flow = isDue && !submission.concurrency ? submission.flow : undefined;
  const direct = hand !== undefined || flow !== undefined;
  const job = toRow(ctx, submission, options, { now, scheduled_for, direct });
  if (flow) Object.assign(job, { worker: null, last_ping: null });
  let plan: Plan | undefined;
  try {
    plan = flow && (await beginFlow(app, job, flow.value, { skip_preprocessor: !job.preprocessor_input }));
    await ctx.write(
      {
        resource: submission.script_path ?? submission.kind,
        parameters: { job_id: job.id },
        // A path may stand for a flow where a script was asked for.
        ...(submission.kind === "flow" && !submission.restarted_from ? { as: RUN_FLOW } : {}),
      },
      async (tx) => {
        const looking = refuseClosed(app, tx, job.workspace_id);
        if (looking) await looking;
        if (options.job_id !== undefined && !how.ownId) await refuseKnownId(tx, options.job_id);
        if (submission.delete_after_use && !(await hasPlace(tx, job, now))) {
          throw new Unavailable(
            `as many jobs as may run of ${job.concurrency_key} do already: try again later`,
          );
        }
        await keepSeals(app, tx, job, plan !== undefined);
        await insertJob(tx, job.delete_after_use ? { ...job, args: "{}", preprocessor_input: null } : job);
        await plan?.store(tx);
        await how.also?.(tx, job.id);
        tx.afterCommit(() => (hand ? hand(job) : app.queue.wake()));
      },
    );
  } catch (error) {
    plan?.abandon();
    throw error;
  }
  return job;
}

/** Whether a job that is due may go to this process's worker without being claimed, if there is room. */
function mayBeHanded({ delete_after_use, flow, concurrency }: Submission): boolean {
  return !delete_after_use && !flow && !concurrency;
}

/** How the job goes to this process's worker without being claimed; undefined when it has to be. */
function wayToWorker(
  app: App,
  submission: Submission,
  room: Reservation | undefined,
): ((job: Job) => void) | undefined {
  if (submission.delete_after_use) return app.queue.handAnyway;
  return room && room.places > 0 ? room.hand : undefined;
}

/**
 * Refuses a call that would wait behind more jobs than it wants to.
 * @param most due jobs that may be queued on the whole instance
 * @throws Unavailable
 */
export async function refuseBeyond({ app }: Context, most: number): Promise<void> {
  const due = await app.db.read
    .select({ id: jobs.id })
    .from(jobs)
    .where(and(sql`${jobs.state} = 'queued'`, lte(jobs.scheduled_for, app.clock())))
    .limit(most + 1);
  if (due.length > most)
    throw new Unavailable(`more than ${most} jobs are queued, which is the queue's limit`);
}

function dueAt(options: RunOptions, now: Date): Date {
  if (options.scheduled_for) return options.scheduled_for;
  if (options.scheduled_in_secs) return new Date(now.getTime() + options.scheduled_in_secs * 1000);
  return now;
}

async function refuseKnownId(tx: Tx, job_id: string): Promise<void> {
  await tx.lock(`job ${job_id}`);
  const known = await tx.select({ id: jobs.id }).from(jobs).where(eq(jobs.id, job_id));
  if (known.length > 0) throw new BadRequest(`there is a job with id ${job_id} already`);
}

export function toRow(
  ctx: WorkspaceContext,
  submission: Submission,
  options: RunOptions,
  when: { now: Date; scheduled_for: Date; direct: boolean },
): Job {
  const { member, identity } = ctx.caller;
  const { concurrency, trigger } = submission;
  return {
    ...UNFINISHED,
    kind: submission.kind,
    script_path: submission.script_path ?? null,
    script_hash: submission.script_hash ?? null,
    language: submission.language ?? null,
    tag: submission.tag,
    priority: submission.priority ?? 0,
    timeout_s: submission.timeout_s ?? null,
    raw_code: submission.raw_code ?? null,
    raw_lock: submission.raw_lock ?? null,
    args: submission.args,
    preprocessor_input: submission.preprocessor_input ?? null,
    visible_to_owner: submission.visible_to_owner,
    id: options.job_id ?? newJobId(),
    workspace_id: member.workspace_id,
    state: when.direct ? "running" : "queued",
    created_by: trigger?.created_by ?? displayName(identity.token?.label, member.username),
    ...runsAs(ctx, submission),
    created_at: when.now,
    scheduled_for: when.scheduled_for,
    started_at: when.direct ? when.now : null,
    last_ping: when.direct ? when.now : null,
    worker: when.direct ? ctx.app.queue.worker : null,
    parent_job: options.parent_job ?? null,
    root_job: options.root_job ?? null,
    request_id: ctx.request_id ?? null,
    trigger_kind: trigger?.kind ?? "webhook",
    schedule_path: trigger?.schedule_path ?? null,
    flow_step_id: null,
    flow_index: null,
    flow_version: submission.flow?.version ?? null,
    raw_flow: submission.raw_flow ?? null,
    flow_body: otherBeginning(submission),
    concurrency_key: concurrency?.key ?? null,
    concurrent_limit: concurrency?.limit ?? null,
    concurrency_time_window_s: concurrency?.window_s ?? null,
    cache_ttl: submission.cache_ttl ?? null,
    delete_after_use: submission.delete_after_use ?? false,
  };
}

/** What is stored of a run that begins elsewhere than others do. */
function otherBeginning({ restarted_from, entrypoint }: Submission): string | null {
  if (restarted_from) return storedPoint(restarted_from);
  return entrypoint === undefined ? null : storedEntrypoint(entrypoint);
}

const PLAIN_LABELS = /^(webhook|http|email|ws)-/;

/** Who a job says it was started by: the token's label where it has a telling one, else the user. */
function displayName(label: string | undefined, username: string): string {
  if (!label || label === "session" || label.startsWith("ephemeral-script")) return username;
  return PLAIN_LABELS.test(label) ? label : `label-${label}`;
}
