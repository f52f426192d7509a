/** Arguments of handlers. Extra arguments configured with a handler replace others of the same name. */
import { eq } from "drizzle-orm";
import { isJsonObject, parseJson } from "../../../lib/json/json.ts";
import type { App } from "../../../platform/app/context.ts";
import { type Job, jobs } from "../../../platform/queue/tables.ts";
import { escapeReferences } from "../../runs/arguments/caller-references.ts";
import type { RunAs } from "../../runs/arguments/password-arguments.ts";
import type { Schedule } from "../schedules/tables.ts";
import type { HandlerCall } from "./tables.ts";

type Values = Record<string, unknown>;

/** The user or group a handler's job runs as. */
interface HandlerTarget {
  app: App;
  runner: RunAs;
}

/**
 * Reads a job's result for a handler. References in it are escaped: the author of the result does not have the
 * handler's rights.
 */
async function readResult(
  { app, runner }: HandlerTarget,
  result: string | null,
  otherwise: string,
): Promise<Values> {
  return resultFields(await escapeReferences(app, runner, result ?? "null"), otherwise);
}

/** Returns the fields of a result that is an object; any other result becomes the value of `otherwise`. */
function resultFields(result: string | null, otherwise: string): Values {
  const value: unknown = parseJson(result ?? "null");
  if (isJsonObject(value)) return value;
  return { [otherwise]: value };
}

function jobFields({ workspace_id, id, script_path, kind, started_at, email }: Job): Values {
  return { workspace_id, job_id: id, path: script_path, is_flow: kind === "flow", started_at, email };
}

/** Creates the arguments of the workspace's error handler: the error and the job. */
export async function createErrorArguments(
  to: HandlerTarget,
  job: Job,
  extra: Values | null | undefined,
): Promise<Values> {
  return { ...(await readResult(to, job.result, "error")), ...jobFields(job), ...extra };
}

/** Creates the arguments of the workspace's success handler: the result, whatever its form, and the job. */
export async function createWorkspaceSuccessArguments(
  { app, runner }: HandlerTarget,
  job: Job,
  extra: Values | null | undefined,
): Promise<Values> {
  const result: unknown = parseJson(await escapeReferences(app, runner, job.result ?? "null"));
  return { result, ...jobFields(job), ...extra };
}

/** Creates the arguments of a schedule's failure handler. */
export async function createFailureArguments(
  to: HandlerTarget,
  job: Job,
  call: HandlerCall,
  { on_failure_extra_args }: Schedule,
): Promise<Values> {
  const { schedule_path, times } = call;
  const counted = { schedule_path, failed_times: times };
  const left = await readResult(to, job.result, "error");
  return { ...left, ...jobFields(job), ...counted, ...on_failure_extra_args };
}

/** Creates the arguments of a schedule's success handler. */
export async function createSuccessArguments(
  to: HandlerTarget,
  job: Job,
  call: HandlerCall,
  { on_success_extra_args }: Schedule,
): Promise<Values> {
  const { schedule_path } = call;
  const left = await readResult(to, job.result, "result");
  return { ...left, ...jobFields(job), schedule_path, ...on_success_extra_args };
}

/** Creates the arguments of a schedule's recovery handler: the earlier failure, and the successful run. */
export async function createRecoveryArguments(
  to: HandlerTarget,
  job: Job,
  { schedule_path, times, failed_job }: HandlerCall,
  { is_flow, on_recovery_extra_args }: Schedule,
): Promise<Values> {
  const [failed] = await to.app.db.read
    .select({ result: jobs.result, started_at: jobs.started_at })
    .from(jobs)
    .where(eq(jobs.id, failed_job ?? ""));
  const { error = null } = failed ? await readResult(to, failed.result, "error") : {};
  return {
    error,
    error_started_at: failed?.started_at ?? null,
    schedule_path,
    path: job.script_path,
    is_flow,
    success_result: parseJson(await escapeReferences(to.app, to.runner, job.result ?? "null")),
    success_times: times,
    success_started_at: job.started_at,
    ...on_recovery_extra_args,
  };
}
