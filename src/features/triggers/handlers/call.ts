/** From a row of the outbox to the job of a handler: the row goes in the transaction that stores the job. */

import { and, eq } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import { isPassing } from "../../../database/failure.ts";
import { type Backoff, backoffMs } from "../../../lib/async/retry.ts";
import { BadRequest, NotFound, SvcError } from "../../../lib/errors.ts";
import { targetOfHandler } from "../../../lib/text/runnable-path.ts";
import type { App } from "../../../platform/app/context.ts";
import { type Job, jobs } from "../../../platform/queue/tables.ts";
import { flows } from "../../code/flows/tables.ts";
import { findLatest } from "../../code/scripts/versions.ts";
import { contextOf, submissionOf, submitTriggered } from "../../runs/submit/triggered.ts";
import { raiseAlert } from "../../signals/alerts/service.ts";
import { groupIdentity } from "../../tenancy/people/members.ts";
import { ERROR_HANDLERS } from "../../tenancy/people/server-groups.ts";
import { hasErrorHandler } from "../../tenancy/workspaces/error-handler-cache.ts";
import { readSettings } from "../../tenancy/workspaces/settings.ts";
import { workspaces } from "../../tenancy/workspaces/tables.ts";
import { type Schedule, schedules } from "../schedules/tables.ts";
import { errorArguments, failureArguments, recoveryArguments, successArguments } from "./arguments.ts";
import { HANDLER_TRIGGER } from "./outbox.ts";
import { submitAsGroup } from "./submit-as-group.ts";
import { type HandlerCall, handlerCalls } from "./tables.ts";

/** A handler that cannot begin may be one that is being deployed: it is tried so often. */
const MAX_TRIES = 5;
const BACKOFF: Backoff = { first_ms: 1_000, max_ms: 60_000 };
/** Whatever else keeps it from beginning is given a day, as a receiver of events is. */
const PATIENCE_MS = 24 * 3_600_000;

/** Where the instance's own scripts live, its error handler among them. */
const INSTANCE_WORKSPACE = "admins";

/** Which handler is started, and how. */
interface Wanted {
  /** Where it lives; left out: where the job ran. */
  workspace_id?: string;
  /** `script/<path>` or `flow/<path>`. */
  handler: string;
  args: Record<string, unknown>;
  created_by: string;
  /** Whose rights it has: a person's by e-mail, or those of the group. */
  runs_as: { email: string } | { group: string };
}

/** Does what a row asks for. Safe to be called for one row by several servers at once: one of them starts the handler. */
export async function callHandler(app: App, call: HandlerCall): Promise<void> {
  try {
    const wanted = await wantedBy(app, call);
    if (wanted) await start(app, call, wanted);
    else await app.db.write((tx) => take(tx, call));
  } catch (cause) {
    await postpone(app, call, cause);
  }
}

/** @returns undefined when nobody is to be told any more, or nobody ever was */
async function wantedBy(app: App, call: HandlerCall): Promise<Wanted | undefined> {
  const { workspace_id } = call;
  const [job] = await app.db.read
    .select()
    .from(jobs)
    .where(and(eq(jobs.id, call.job_id), eq(jobs.workspace_id, workspace_id)));
  const [workspace] = await app.db.read.select().from(workspaces).where(eq(workspaces.id, workspace_id));
  if (!job || !workspace || workspace.archived) return undefined;
  if (call.occasion === "handler") {
    const about = job.parent_job === null ? "" : `, which was to tell of job ${job.parent_job}`;
    const message = `the handler ${job.script_path} failed (job ${job.id})${about}`;
    await raiseAlert(app, {
      kind: "error_handler_failed",
      message,
      workspace_id,
      subject: job.script_path ?? job.id,
    });
    return undefined;
  }
  if (call.occasion === "instance") return ofInstance(app, job);
  const schedule = await scheduleOf(app, job);
  if (call.occasion === "workspace") return ofWorkspace(app, job, schedule);
  return schedule && ofSchedule(app, job, call, schedule);
}

/** It hears of every failure, also of what mutes its workspace's handler: that one is the workspace's affair. */
async function ofInstance(app: App, job: Job): Promise<Wanted | undefined> {
  const named = app.config.instance_error_handler;
  if (!named) return undefined;
  return {
    workspace_id: INSTANCE_WORKSPACE,
    handler: targetOfHandler(named) ? named : `script/${named}`,
    args: await errorArguments({ app, runner: groupIn(INSTANCE_WORKSPACE) }, job, undefined),
    created_by: ERROR_HANDLERS,
    runs_as: { group: ERROR_HANDLERS },
  };
}

const groupIn = (workspace_id: string) => ({ workspace_id, email: groupIdentity(ERROR_HANDLERS).email });

async function scheduleOf(
  app: App,
  { workspace_id, schedule_path }: Pick<Job, "workspace_id" | "schedule_path">,
): Promise<Schedule | undefined> {
  if (schedule_path === null) return undefined;
  const [schedule] = await app.db.read
    .select()
    .from(schedules)
    .where(and(eq(schedules.workspace_id, workspace_id), eq(schedules.path, schedule_path)));
  return schedule;
}

async function ofWorkspace(app: App, job: Job, schedule: Schedule | undefined): Promise<Wanted | undefined> {
  const read = () => readSettings(app.db.read, job.workspace_id);
  const look = async () => Boolean((await read()).error_handler);
  if (!(await hasErrorHandler(app, job.workspace_id, look))) return undefined;
  const { error_handler, error_handler_extra_args, error_handler_muted_on_cancel } = await read();
  if (!error_handler) return undefined;
  if (job.status === "canceled" && error_handler_muted_on_cancel) return undefined;
  if (schedule?.ws_error_handler_muted || (await isMuted(app, job))) return undefined;
  const runner = groupIn(job.workspace_id);
  const args = await errorArguments({ app, runner }, job, error_handler_extra_args);
  return { handler: error_handler, args, created_by: ERROR_HANDLERS, runs_as: { group: ERROR_HANDLERS } };
}

/** Whether the script or flow says that it wants none. */
async function isMuted(app: App, { workspace_id, kind, script_path }: Job): Promise<boolean> {
  if (script_path === null) return false;
  if (kind !== "flow") {
    return (await findLatest(app.db.read, workspace_id, script_path))?.ws_error_handler_muted ?? false;
  }
  const [flow] = await app.db.read
    .select({ muted: flows.ws_error_handler_muted })
    .from(flows)
    .where(and(eq(flows.workspace_id, workspace_id), eq(flows.path, script_path)));
  return flow?.muted ?? false;
}

async function ofSchedule(
  app: App,
  job: Job,
  call: HandlerCall,
  schedule: Schedule,
): Promise<Wanted | undefined> {
  const { on_failure, on_recovery, on_success, email } = schedule;
  const runs_as = { email };
  const to = { app, runner: { workspace_id: job.workspace_id, email } };
  if (call.occasion === "failure") {
    const args = await failureArguments(to, job, call, schedule);
    return on_failure
      ? { handler: on_failure, args, created_by: "schedule_error_handler", runs_as }
      : undefined;
  }
  if (call.occasion === "success") {
    const args = await successArguments(to, job, call, schedule);
    return on_success
      ? { handler: on_success, args, created_by: "schedule_success_handler", runs_as }
      : undefined;
  }
  if (!on_recovery) return undefined;
  const args = await recoveryArguments(to, job, call, schedule);
  return { handler: on_recovery, args, created_by: "schedule_recovery_handler", runs_as };
}

async function start(app: App, call: HandlerCall, wanted: Wanted): Promise<void> {
  const { handler, args, created_by, runs_as, workspace_id = call.workspace_id } = wanted;
  const target = targetOfHandler(handler);
  if (!target) throw new NotFound(`handler ${handler}: it must be script/<path> or flow/<path>`);
  const how = { workspace_id, created_by, kind: HANDLER_TRIGGER } as const;
  // A job has its parent in its own workspace.
  const options = workspace_id === call.workspace_id ? { parent_job: call.job_id } : {};
  const guard = (tx: Tx) => take(tx, call);
  if ("group" in runs_as) {
    await submitAsGroup(app, { ...how, ...runs_as }, { target, args, options }, guard);
    return;
  }
  const trigger = { ...how, ...runs_as };
  const ctx = await contextOf(app, trigger, guard);
  const submission = await submissionOf(ctx, target, JSON.stringify(args), options);
  await submitTriggered(ctx, submission, trigger, options);
}

/** @returns false when somebody else has taken the row */
async function take(tx: Tx, { job_id, occasion }: HandlerCall): Promise<boolean> {
  const taken = await tx
    .delete(handlerCalls)
    .where(at({ job_id, occasion }))
    .returning({ id: handlerCalls.job_id });
  return taken.length > 0;
}

function at({ job_id, occasion }: Pick<HandlerCall, "job_id" | "occasion">) {
  return and(eq(handlerCalls.job_id, job_id), eq(handlerCalls.occasion, occasion));
}

/** A handler that is not there is given up, and the operator told; anything else may be over soon. */
async function postpone(app: App, call: HandlerCall, cause: unknown): Promise<void> {
  const attempts = call.attempts + 1;
  // That the database is away, or the server is shutting down, says nothing of the handler.
  const passes = isPassing(cause);
  if (!(cause instanceof SvcError)) {
    app.log.error({ job: call.job_id, error: String(cause) }, "a handler could not be started yet");
  }
  if (!passes && isHopeless(cause, attempts, app.clock().getTime() - call.created_at.getTime())) {
    await giveUp(app, call, cause);
    return;
  }
  const next_at = new Date(app.clock().getTime() + backoffMs(BACKOFF, attempts));
  await app.db.write((tx) =>
    tx
      .update(handlerCalls)
      .set({ next_at, ...(passes ? {} : { attempts }) })
      .where(at(call)),
  );
}

function isHopeless(cause: unknown, attempts: number, age_ms: number): boolean {
  if (cause instanceof NotFound) return true;
  return cause instanceof BadRequest ? attempts >= MAX_TRIES : age_ms >= PATIENCE_MS;
}

async function giveUp(app: App, call: HandlerCall, cause: unknown): Promise<void> {
  const { workspace_id, job_id } = call;
  // What is no error of ours may quote anything; the log has it.
  const why = cause instanceof SvcError ? cause.message : "the server failed; its log says more";
  const message = `no handler could be started for job ${job_id}: ${why}`;
  const isOfInstance = call.occasion === "instance";
  const subject = call.schedule_path ?? (isOfInstance ? "instance_error_handler" : "error_handler");
  await raiseAlert(app, { kind: "error_handler_not_started", message, workspace_id, subject });
  await app.db.write((tx) => take(tx, call));
}
