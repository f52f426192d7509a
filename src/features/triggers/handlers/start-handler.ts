/** Starts the handler for a row of the outbox. The row is deleted in the transaction that stores the handler's job. */

import { and, eq } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import { isTransient } from "../../../database/failure.ts";
import { type Backoff, computeBackoffMs } from "../../../lib/async/retry.ts";
import { BadRequest, NotFound, SvcError } from "../../../lib/errors.ts";
import { parseRunnablePath } from "../../../lib/text/runnable-path.ts";
import { ERROR_HANDLER_GROUP, SUCCESS_HANDLER_GROUP } from "../../../lib/text/server-groups.ts";
import type { App } from "../../../platform/app/context.ts";
import { type Job, jobs } from "../../../platform/queue/tables.ts";
import { flows } from "../../code/flows/tables.ts";
import { findLatestScript } from "../../code/scripts/versions.ts";
import {
  createTriggerContext,
  createTriggerSubmission,
  submitTriggered,
} from "../../runs/submit/triggered.ts";
import { raiseAlert } from "../../signals/alerts/service.ts";
import { formatGroupRunAs } from "../../tenancy/people/members.ts";
import { hasHandler } from "../../tenancy/workspaces/handler-cache.ts";
import { readSettings } from "../../tenancy/workspaces/settings.ts";
import { workspaces } from "../../tenancy/workspaces/tables.ts";
import { type Schedule, schedules } from "../schedules/tables.ts";
import {
  createErrorArguments,
  createFailureArguments,
  createRecoveryArguments,
  createSuccessArguments,
  createWorkspaceSuccessArguments,
} from "./arguments.ts";
import { HANDLER_TRIGGER } from "./outbox.ts";
import { submitAsGroup } from "./submit-as-group.ts";
import { type HandlerCall, handlerCalls, type Occasion } from "./tables.ts";

/** Attempts for a handler that cannot run, for example because it is being deployed. */
const MAX_ATTEMPTS = 5;
const BACKOFF: Backoff = { first_ms: 1_000, max_ms: 60_000 };
/** Other errors are retried for a day, like deliveries of webhooks. */
const MAX_AGE_MS = 24 * 3_600_000;

/** The settings that name the handlers of these occasions, if not `error_handler`. */
const SETTINGS: { [K in Occasion]?: string } = {
  instance: "instance_error_handler",
  workspace_success: "success_handler",
};

/** Workspace of the instance's own scripts, such as its error handler. */
const INSTANCE_WORKSPACE = "admins";

/** A handler to start. */
interface HandlerStart {
  /** Its workspace; default: that of the job. */
  workspace_id?: string;
  /** `script/<path>` or `flow/<path>`. */
  handler: string;
  args: Record<string, unknown>;
  created_by: string;
  /** The user (by email) or group that it runs as. */
  runs_as: { email: string } | { group: string };
}

/** Processes one row. Safe to call on several servers at once: exactly one of them starts the handler. */
export async function processHandlerCall(app: App, call: HandlerCall): Promise<void> {
  try {
    const wanted = await planHandler(app, call);
    if (wanted) await startHandler(app, call, wanted);
    else await app.db.write((tx) => deleteCall(tx, call));
  } catch (cause) {
    await retryLater(app, call, cause);
  }
}

/**
 * Determines the script or flow to start for a completed job, and its arguments.
 * @returns undefined if no handler is configured for the job (any more)
 */
async function planHandler(app: App, call: HandlerCall): Promise<HandlerStart | undefined> {
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
  if (call.occasion === "instance") return planInstanceHandler(app, job);
  if (call.occasion === "workspace_success") return planSuccessHandler(app, job);
  const schedule = await findSchedule(app, job);
  if (call.occasion === "workspace") return planWorkspaceHandler(app, job, schedule);
  return schedule && planScheduleHandler(app, job, call, schedule);
}

/**
 * Plans the call of the instance's handler. It receives every failure, also those for which the workspace's handler is
 * muted.
 */
async function planInstanceHandler(app: App, job: Job): Promise<HandlerStart | undefined> {
  const named = app.config.instance_error_handler;
  if (!named) return undefined;
  return {
    workspace_id: INSTANCE_WORKSPACE,
    handler: parseRunnablePath(named) ? named : `script/${named}`,
    args: await createErrorArguments(
      { app, runner: groupRunAs(INSTANCE_WORKSPACE, ERROR_HANDLER_GROUP) },
      job,
      undefined,
    ),
    created_by: ERROR_HANDLER_GROUP,
    runs_as: { group: ERROR_HANDLER_GROUP },
  };
}

const groupRunAs = (workspace_id: string, group: string) => ({
  workspace_id,
  email: formatGroupRunAs(group).email,
});

async function findSchedule(
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

async function planWorkspaceHandler(
  app: App,
  job: Job,
  schedule: Schedule | undefined,
): Promise<HandlerStart | undefined> {
  const read = () => readSettings(app.db.read, job.workspace_id);
  if (!(await hasHandler(app, job.workspace_id, "error_handler", read))) return undefined;
  const settings = await read();
  const { error_handler, error_handler_extra_args } = settings;
  if (!error_handler) return undefined;
  if (job.status === "canceled" && settings.error_handler_muted_on_cancel) return undefined;
  if (settings.error_handler_muted_on_user_path && job.script_path?.startsWith("u/")) return undefined;
  if (schedule?.ws_error_handler_muted || (await isMuted(app, job))) return undefined;
  const runner = groupRunAs(job.workspace_id, ERROR_HANDLER_GROUP);
  const args = await createErrorArguments({ app, runner }, job, error_handler_extra_args);
  return {
    handler: error_handler,
    args,
    created_by: ERROR_HANDLER_GROUP,
    runs_as: { group: ERROR_HANDLER_GROUP },
  };
}

async function planSuccessHandler(app: App, job: Job): Promise<HandlerStart | undefined> {
  const read = () => readSettings(app.db.read, job.workspace_id);
  if (!(await hasHandler(app, job.workspace_id, "success_handler", read))) return undefined;
  const { success_handler } = await read();
  if (!success_handler) return undefined;
  const { path, extra_args } = success_handler;
  const runner = groupRunAs(job.workspace_id, SUCCESS_HANDLER_GROUP);
  return {
    handler: path,
    args: await createWorkspaceSuccessArguments({ app, runner }, job, extra_args),
    created_by: SUCCESS_HANDLER_GROUP,
    runs_as: { group: SUCCESS_HANDLER_GROUP },
  };
}

/** Returns whether the script or flow mutes the workspace's handler. */
async function isMuted(app: App, { workspace_id, kind, script_path }: Job): Promise<boolean> {
  if (script_path === null) return false;
  if (kind !== "flow") {
    return (await findLatestScript(app.db.read, workspace_id, script_path))?.ws_error_handler_muted ?? false;
  }
  const [flow] = await app.db.read
    .select({ muted: flows.ws_error_handler_muted })
    .from(flows)
    .where(and(eq(flows.workspace_id, workspace_id), eq(flows.path, script_path)));
  return flow?.muted ?? false;
}

async function planScheduleHandler(
  app: App,
  job: Job,
  call: HandlerCall,
  schedule: Schedule,
): Promise<HandlerStart | undefined> {
  const { on_failure, on_recovery, on_success, email } = schedule;
  const runs_as = { email };
  const to = { app, runner: { workspace_id: job.workspace_id, email } };
  if (call.occasion === "failure") {
    const args = await createFailureArguments(to, job, call, schedule);
    return on_failure
      ? { handler: on_failure, args, created_by: "schedule_error_handler", runs_as }
      : undefined;
  }
  if (call.occasion === "success") {
    const args = await createSuccessArguments(to, job, call, schedule);
    return on_success
      ? { handler: on_success, args, created_by: "schedule_success_handler", runs_as }
      : undefined;
  }
  if (!on_recovery) return undefined;
  const args = await createRecoveryArguments(to, job, call, schedule);
  return { handler: on_recovery, args, created_by: "schedule_recovery_handler", runs_as };
}

async function startHandler(app: App, call: HandlerCall, wanted: HandlerStart): Promise<void> {
  const { handler, args, created_by, runs_as, workspace_id = call.workspace_id } = wanted;
  const target = parseRunnablePath(handler);
  if (!target) throw new NotFound(`handler ${handler}: it must be script/<path> or flow/<path>`);
  const how = { workspace_id, created_by, kind: HANDLER_TRIGGER } as const;
  // A job's parent must be in its own workspace.
  const parent = workspace_id === call.workspace_id ? { parent_job: call.job_id } : {};
  const options = { ...parent, has_added_arguments: true };
  const guard = (tx: Tx) => deleteCall(tx, call);
  if ("group" in runs_as) {
    await submitAsGroup(app, { ...how, ...runs_as }, { target, args, options }, guard);
    return;
  }
  const trigger = { ...how, ...runs_as };
  const ctx = await createTriggerContext(app, trigger, guard);
  const submission = await createTriggerSubmission(ctx, target, JSON.stringify(args), options);
  await submitTriggered(ctx, submission, trigger, options);
}

/** Deletes the outbox row of a handler. @returns false if another server has processed the row */
async function deleteCall(tx: Tx, { job_id, occasion }: HandlerCall): Promise<boolean> {
  const taken = await tx
    .delete(handlerCalls)
    .where(isCall({ job_id, occasion }))
    .returning({ id: handlerCalls.job_id });
  return taken.length > 0;
}

function isCall({ job_id, occasion }: Pick<HandlerCall, "job_id" | "occasion">) {
  return and(eq(handlerCalls.job_id, job_id), eq(handlerCalls.occasion, occasion));
}

/** Retries later. A missing handler is not retried: an alert is raised instead. */
async function retryLater(app: App, call: HandlerCall, cause: unknown): Promise<void> {
  const attempts = call.attempts + 1;
  // Transient errors (database outage, shutdown) are not the handler's fault and do not count as attempts.
  const passes = isTransient(cause);
  if (!(cause instanceof SvcError)) {
    app.log.error({ job: call.job_id, error: String(cause) }, "a handler could not be started yet");
  }
  if (!passes && isPermanent(cause, attempts, app.clock().getTime() - call.created_at.getTime())) {
    await alertAndDelete(app, call, cause);
    return;
  }
  const next_at = new Date(app.clock().getTime() + computeBackoffMs(BACKOFF, attempts));
  await app.db.write((tx) =>
    tx
      .update(handlerCalls)
      .set({ next_at, ...(passes ? {} : { attempts }) })
      .where(isCall(call)),
  );
}

function isPermanent(cause: unknown, attempts: number, age_ms: number): boolean {
  if (cause instanceof NotFound) return true;
  return cause instanceof BadRequest ? attempts >= MAX_ATTEMPTS : age_ms >= MAX_AGE_MS;
}

async function alertAndDelete(app: App, call: HandlerCall, cause: unknown): Promise<void> {
  const { workspace_id, job_id } = call;
  // Other errors may quote secrets: only the log has their text.
  const why = cause instanceof SvcError ? cause.message : "the server failed; its log says more";
  const message = `no handler could be started for job ${job_id}: ${why}`;
  const subject = call.schedule_path ?? SETTINGS[call.occasion] ?? "error_handler";
  await raiseAlert(app, { kind: "error_handler_not_started", message, workspace_id, subject });
  await app.db.write((tx) => deleteCall(tx, call));
}
