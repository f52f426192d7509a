/** Submitting a job: nothing is answered before its row is committed. */
import { eq } from "drizzle-orm";
import type { WorkspaceContext } from "../../context.ts";
import type { Tx } from "../../database/database.ts";
import { BadRequest, NotFound } from "../../errors.ts";
import { refuseWhileDraining } from "../../http/execute.ts";
import { newJobId } from "../../lib/ids.ts";
import { insertJob } from "../../queue/driver.ts";
import type { JobKind } from "../../queue/states.ts";
import { type Job, jobs } from "../../queue/tables.ts";
import { canRead } from "../permissions.ts";
import { type Deployed, deployedByHash, deployedByPath } from "../scripts/versions.ts";
import { checkScopes } from "../tokens/scopes.ts";

/** What the caller may ask of any run. */
export interface RunOptions {
  scheduled_for?: Date | undefined;
  scheduled_in_secs?: number | undefined;
  parent_job?: string | undefined;
  root_job?: string | undefined;
  tag?: string | undefined;
  job_id?: string | undefined;
  timeout?: number | undefined;
  invisible_to_owner?: boolean | undefined;
}

export interface Submission {
  kind: JobKind;
  script_path: string | undefined;
  script_hash: string | undefined;
  language: string;
  tag: string;
  priority: number;
  timeout_s: number | undefined;
  raw_code?: string | undefined;
  raw_lock?: string | undefined;
  /** JSON text of an object. */
  args: string;
  visible_to_owner: boolean;
}

export type Target = { path: string } | { hash: string };

/**
 * The version a run form names, when the caller may run it.
 * @throws NotFound, BadRequest (archived, not ready), Forbidden (scope)
 */
export async function resolveTarget(ctx: WorkspaceContext, target: Target): Promise<Deployed> {
  const { member, identity } = ctx.caller;
  const found =
    "path" in target
      ? deployedByPath(ctx.app, member.workspace_id, target.path)
      : deployedByHash(ctx.app, member.workspace_id, target.hash);
  const deployed = found instanceof Promise ? await found : found;
  if (!canRead(member, deployed.path, deployed.extra_perms)) {
    throw new NotFound(`script ${deployed.path} in workspace ${member.workspace_id}`);
  }
  checkScopes(identity, { domain: "jobs", action: "run", kind: "scripts" }, deployed.path);
  return deployed;
}

export function scriptSubmission(deployed: Deployed, args: string, options: RunOptions): Submission {
  return {
    kind: "script",
    script_path: deployed.path,
    script_hash: deployed.hash,
    language: deployed.version.language,
    tag: options.tag || deployed.tag,
    priority: deployed.priority,
    timeout_s: shorter(options.timeout, deployed.timeout_s),
    args,
    visible_to_owner: !options.invisible_to_owner && !deployed.visible_to_runner_only,
  };
}

function shorter(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : b === undefined ? a : Math.min(a, b);
}

/**
 * Stores the job and wakes the worker. With room in the pool it is stored as running and handed over after the commit,
 * which saves the claim.
 * @throws Unavailable while draining, BadRequest for a job_id that is known
 */
export async function submitJob(
  ctx: WorkspaceContext,
  submission: Submission,
  options: RunOptions,
  /** Set when `options.job_id` was made here, so that nobody else can know it. */
  { ownId }: { ownId: boolean } = { ownId: false },
): Promise<Job> {
  const { app } = ctx;
  refuseWhileDraining(app);
  const givenId = ownId ? undefined : options.job_id;
  const now = app.clock();
  const scheduled_for = dueAt(options, now);
  const direct = scheduled_for <= now && app.queue.reserve();
  const job = toRow(ctx, submission, options, { now, scheduled_for, direct });
  try {
    await ctx.write(
      { resource: submission.script_path ?? submission.kind, parameters: { job_id: job.id } },
      async (tx) => {
        if (givenId !== undefined) await refuseKnownId(tx, givenId);
        await insertJob(tx, job);
        tx.afterCommit(() => (direct ? app.queue.hand(job) : app.queue.wake()));
      },
    );
  } catch (error) {
    if (direct) app.queue.giveBack();
    throw error;
  }
  return job;
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

/** What is known of no job before it has run. */
const UNFINISHED = {
  status: null,
  completed_at: null,
  duration_ms: null,
  result: null,
  preprocessor_input: null,
  preprocessed: null,
  cancel_requested: false,
  canceled_by: null,
  canceled_reason: null,
  attempts: 0,
  mem_peak_kb: null,
  labels: null,
  deleted: false,
  concurrency_blocked: false,
  progress: null,
} as const;

function toRow(
  ctx: WorkspaceContext,
  submission: Submission,
  options: RunOptions,
  when: { now: Date; scheduled_for: Date; direct: boolean },
): Job {
  const { member, identity } = ctx.caller;
  return {
    ...UNFINISHED,
    kind: submission.kind,
    script_path: submission.script_path ?? null,
    script_hash: submission.script_hash ?? null,
    language: submission.language,
    tag: submission.tag,
    priority: submission.priority,
    timeout_s: submission.timeout_s ?? null,
    raw_code: submission.raw_code ?? null,
    raw_lock: submission.raw_lock ?? null,
    args: submission.args,
    visible_to_owner: submission.visible_to_owner,
    id: options.job_id ?? newJobId(),
    workspace_id: member.workspace_id,
    state: when.direct ? "running" : "queued",
    created_by: displayName(identity.token?.label, member.username),
    permissioned_as: identity.token?.job?.permissioned_as ?? `u/${member.username}`,
    email: identity.email,
    created_at: when.now,
    scheduled_for: when.scheduled_for,
    started_at: when.direct ? when.now : null,
    last_ping: when.direct ? when.now : null,
    worker: when.direct ? ctx.app.queue.worker : null,
    parent_job: options.parent_job ?? null,
    root_job: options.root_job ?? null,
    trigger_kind: "webhook",
    schedule_path: null,
    concurrency_key: null,
    concurrent_limit: null,
    concurrency_time_window_s: null,
    cache_ttl: null,
    delete_after_use: false,
  };
}

const PLAIN_LABELS = /^(webhook|http|email|ws)-/;

/** Who a job says it was started by: the token's label where it has a telling one, else the user. */
function displayName(label: string | undefined, username: string): string {
  if (!label || label === "session" || label.startsWith("ephemeral-script")) return username;
  return PLAIN_LABELS.test(label) ? label : `label-${label}`;
}
