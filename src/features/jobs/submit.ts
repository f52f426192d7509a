/** Submitting a job: nothing is answered before its row is committed. */
import { and, eq, lte, sql } from "drizzle-orm";
import type { App, Context, Identity, Member, WorkspaceContext } from "../../context.ts";
import type { Tx } from "../../database/database.ts";
import { BadRequest, NotFound, Unavailable } from "../../errors.ts";
import type { FlowValue } from "../../flow-engine/types.ts";
import { refuseWhileDraining } from "../../http/execute.ts";
import { newJobId } from "../../lib/ids.ts";
import { hasPlace } from "../../queue/concurrency.ts";
import { insertJob } from "../../queue/driver.ts";
import type { JobKind } from "../../queue/states.ts";
import { type Job, jobs } from "../../queue/tables.ts";
import type { Plan } from "../flows/run/plan.ts";
import { beginFlow } from "../flows/run/runs.ts";
import { type RestartPoint, storedPoint } from "../flows/run/take-over.ts";
import { type DeployedFlow, deployedFlowByPath, deployedFlowByVersion } from "../flows/versions.ts";
import { findReadable } from "../permissions.ts";
import { type Deployed, deployedByHash, deployedByPath } from "../scripts/versions.ts";
import { checkScopes, checkTag } from "../tokens/scopes.ts";
import { refuseClosed } from "../workspaces/closed.ts";
import { resolveMember } from "../workspaces/members.ts";
import { storedEntrypoint } from "./entrypoints.ts";
import { discardUploads } from "./form-data.ts";
import { interpolate } from "./interpolate.ts";
import { sealArguments } from "./sealed.ts";
import { UNFINISHED } from "./unfinished.ts";

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
  /** Seconds for which the result serves later runs; sets or overrides what the script says. */
  cache_ttl?: number | undefined;
}

export interface Submission {
  kind: JobKind;
  script_path: string | undefined;
  script_hash: string | undefined;
  language: string | undefined;
  tag: string;
  priority: number;
  timeout_s: number | undefined;
  raw_code?: string | undefined;
  raw_lock?: string | undefined;
  /** JSON text of a flow that is not deployed. */
  raw_flow?: string | undefined;
  /** JSON text of an object. */
  args: string;
  /** JSON text of what the preprocessor is handed: it makes main's arguments of it. */
  preprocessor_input?: string | undefined;
  visible_to_owner: boolean;
  /** The flow it runs: a deployed version, or one that is not deployed. */
  flow?: { version: number | undefined; value: FlowValue } | undefined;
  skip_preprocessor?: boolean | undefined;
  /** The run that this one goes on from, and where. */
  restarted_from?: RestartPoint | undefined;
  /** The function it runs, where that is not main. */
  entrypoint?: string | undefined;
  /** Who it runs as, where that is not the caller. */
  runs_as?: { permissioned_as: string; email: string } | undefined;
  /** What started it, where that is not a webhook. */
  trigger_kind?: string | undefined;
  concurrency?: { key: string; limit: number; window_s: number } | undefined;
  cache_ttl?: number | undefined;
  /** Arguments, result and log are never stored; only a caller who waits for the result can ask for that. */
  delete_after_use?: boolean | undefined;
  /** What set it off, where that is not a call. */
  trigger?: { kind: string; created_by: string; schedule_path: string | undefined } | undefined;
}

export interface SubmitHow {
  /** `options.job_id` was made here, so that nobody else can know it. */
  ownId?: boolean;
  /** Stored together with the job. */
  also?: (tx: Tx, job_id: string) => Promise<void>;
}

/** The audit row of a run of a deployed flow, by whichever operation. */
export const RUN_FLOW = { operation: "jobs.run.flow", action_kind: "Execute" } as const;

export type Target = { path: string } | { hash: string } | { flow: string } | { flow_version: string };

/** What a run form names. */
export type Runnable = { kind: "script"; script: Deployed } | { kind: "flow"; flow: DeployedFlow };

/**
 * The version a run form names, when the caller may run it. A path is a script's first, and else a flow's.
 * @throws NotFound, BadRequest (archived, not ready), Forbidden (scope)
 */
export async function resolveTarget(ctx: WorkspaceContext, target: Target): Promise<Runnable> {
  if ("flow" in target || "flow_version" in target) return { kind: "flow", flow: await flowOf(ctx, target) };
  try {
    return { kind: "script", script: await scriptOf(ctx, target) };
  } catch (noScript) {
    if ("hash" in target || !(noScript instanceof NotFound)) throw noScript;
    try {
      return { kind: "flow", flow: await flowOf(ctx, { flow: target.path }) };
    } catch (noFlow) {
      throw noFlow instanceof NotFound ? noScript : noFlow;
    }
  }
}

async function scriptOf(
  ctx: WorkspaceContext,
  target: { path: string } | { hash: string },
): Promise<Deployed> {
  const { app, caller } = ctx;
  const { member, identity } = caller;
  const { workspace_id } = member;
  const deployed =
    "hash" in target
      ? await findReadable(member, `script with hash ${target.hash}`, () =>
          deployedByHash(app, workspace_id, target.hash),
        )
      : await findReadable(member, `script ${target.path}`, () =>
          deployedByPath(app, workspace_id, target.path),
        );
  checkScopes(identity, { domain: "jobs", action: "run", kind: "scripts" }, deployed.path);
  return deployed;
}

async function flowOf(
  ctx: WorkspaceContext,
  target: { flow: string } | { flow_version: string },
): Promise<DeployedFlow> {
  const { app, caller } = ctx;
  const { member, identity } = caller;
  if ("flow_version" in target && !/^[0-9]{1,15}$/.test(target.flow_version)) {
    throw new BadRequest(`"${target.flow_version}" is not a flow version: it must be a number`);
  }
  const found =
    "flow" in target
      ? await findReadable(member, `flow ${target.flow}`, () =>
          deployedFlowByPath(app, member.workspace_id, target.flow),
        )
      : await findReadable(member, `flow version ${target.flow_version}`, () =>
          deployedFlowByVersion(app, member.workspace_id, Number(target.flow_version)),
        );
  checkScopes(identity, { domain: "jobs", action: "run", kind: "flows" }, found.path);
  return found;
}

/** @throws BadRequest when the flow runs on behalf of somebody who has left */
export async function flowSubmission(
  ctx: WorkspaceContext,
  flow: DeployedFlow,
  given: string,
  options: RunOptions,
): Promise<Submission> {
  const { workspace_id } = ctx.caller.member;
  const { value, on_behalf_of_email, passwords } = flow;
  const runs_as = on_behalf_of_email === undefined ? undefined : await onBehalfOf(ctx, on_behalf_of_email);
  const args = passwords.length === 0 ? given : await withoutPasswords(ctx, given, passwords, runs_as);
  const scope = { workspace_id, args };
  const key = value.concurrency_key ?? `${workspace_id}/flow/${flow.path}`;
  return {
    kind: "flow",
    flow: { version: flow.version, value },
    script_path: flow.path,
    script_hash: undefined,
    language: undefined,
    tag: interpolate(options.tag || flow.tag || "flow", scope),
    priority: value.priority ?? flow.priority,
    timeout_s: shorter(options.timeout, flow.timeout_s),
    args,
    visible_to_owner: !options.invisible_to_owner && !flow.visible_to_runner_only,
    runs_as,
    concurrency: value.concurrent_limit
      ? {
          limit: value.concurrent_limit,
          window_s: value.concurrency_time_window_s ?? 0,
          key: interpolate(key, scope),
        }
      : undefined,
    cache_ttl: options.cache_ttl || value.cache_ttl,
  };
}

/** @throws BadRequest when the script runs on behalf of somebody who has left */
export async function scriptSubmission(
  ctx: WorkspaceContext,
  deployed: Deployed,
  given: string,
  options: RunOptions,
): Promise<Submission> {
  const { workspace_id } = ctx.caller.member;
  const { concurrency, on_behalf_of_email, passwords } = deployed;
  const runs_as = on_behalf_of_email === undefined ? undefined : await onBehalfOf(ctx, on_behalf_of_email);
  const args = passwords.length === 0 ? given : await withoutPasswords(ctx, given, passwords, runs_as);
  const scope = { workspace_id, args };
  return {
    kind: "script",
    script_path: deployed.path,
    script_hash: deployed.hash,
    language: deployed.version.language,
    tag: interpolate(options.tag || deployed.tag, scope),
    priority: deployed.priority,
    timeout_s: shorter(options.timeout, deployed.timeout_s),
    args,
    visible_to_owner: !options.invisible_to_owner && !deployed.visible_to_runner_only,
    runs_as,
    concurrency: concurrency && {
      ...concurrency,
      key: interpolate(concurrency.key ?? `${workspace_id}/script/${deployed.path}`, scope),
    },
    cache_ttl: options.cache_ttl || deployed.cache_ttl,
    delete_after_use: deployed.delete_after_use,
  };
}

/** The arguments with passwords sealed, for whom the job runs as. */
function withoutPasswords(
  { app, caller }: WorkspaceContext,
  args: string,
  passwords: string[],
  runs_as: Submission["runs_as"],
): Promise<string> {
  const email = runs_as?.email ?? caller.identity.email;
  return sealArguments(app, { workspace_id: caller.member.workspace_id, email }, args, passwords);
}

async function onBehalfOf(
  ctx: WorkspaceContext,
  email: string,
): Promise<{ permissioned_as: string; email: string }> {
  const { workspace_id } = ctx.caller.member;
  const nobody = { super_admin: false, devops: false, token: undefined };
  const member = await resolveMember(ctx.app, { ...nobody, email }, workspace_id);
  if (!member || member.disabled) {
    throw new BadRequest(
      `the script runs on behalf of ${email}, who is no active member of workspace ${workspace_id}: deploy it anew`,
    );
  }
  return { permissioned_as: `u/${member.username}`, email };
}

/** What a group's job starts, the group starts. A person may be called otherwise than when their job began. */
function actsAs({ token }: Identity, { username }: Member): string {
  const own = token?.job?.permissioned_as;
  return own?.startsWith("g/") ? own : `u/${username}`;
}

function shorter(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : b === undefined ? a : Math.min(a, b);
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
  const { app } = ctx;
  refuseWhileDraining(app);
  if (ctx.caller.identity.token?.scopes) checkTag(ctx.caller.identity, submission.tag);
  const now = app.clock();
  const scheduled_for = dueAt(options, now);
  const isDue = scheduled_for <= now;
  const hand = wayToWorker(app, submission, isDue);
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
        refuseClosed(app, job.workspace_id);
        if (options.job_id !== undefined && !how.ownId) await refuseKnownId(tx, options.job_id);
        if (hand === app.queue.handAnyway && !(await hasPlace(tx, job, now))) {
          throw new Unavailable(
            `as many jobs as may run of ${job.concurrency_key} do already: try again later`,
          );
        }
        await insertJob(tx, job.delete_after_use ? { ...job, args: "{}", preprocessor_input: null } : job);
        await plan?.store(tx);
        await how.also?.(tx, job.id);
        tx.afterCommit(() => (hand ? hand(job) : app.queue.wake()));
      },
    );
  } catch (error) {
    if (hand === app.queue.hand) app.queue.giveBack();
    await discardUploads(ctx.request);
    plan?.abandon();
    throw error;
  }
  return job;
}

/** How the job goes to this process's worker without being claimed; undefined when it has to be. */
function wayToWorker(app: App, submission: Submission, due: boolean): ((job: Job) => void) | undefined {
  if (submission.delete_after_use) {
    if (!app.queue.hasWorker())
      throw new Unavailable("there is no worker here for a job that is kept nowhere");
    return app.queue.handAnyway;
  }
  if (submission.flow) return undefined;
  return due && !submission.concurrency && app.queue.reserve(submission.tag) ? app.queue.hand : undefined;
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

function toRow(
  ctx: WorkspaceContext,
  submission: Submission,
  options: RunOptions,
  when: { now: Date; scheduled_for: Date; direct: boolean },
): Job {
  const { member, identity } = ctx.caller;
  const { runs_as, concurrency, trigger } = submission;
  return {
    ...UNFINISHED,
    kind: submission.kind,
    script_path: submission.script_path ?? null,
    script_hash: submission.script_hash ?? null,
    language: submission.language ?? null,
    tag: submission.tag,
    priority: submission.priority,
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
    permissioned_as: runs_as?.permissioned_as ?? actsAs(identity, member),
    email: runs_as?.email ?? identity.email,
    started_by: runs_as ? identity.email : null,
    created_at: when.now,
    scheduled_for: when.scheduled_for,
    started_at: when.direct ? when.now : null,
    last_ping: when.direct ? when.now : null,
    worker: when.direct ? ctx.app.queue.worker : null,
    parent_job: options.parent_job ?? null,
    root_job: options.root_job ?? null,
    trigger_kind: trigger?.kind ?? submission.trigger_kind ?? "webhook",
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
