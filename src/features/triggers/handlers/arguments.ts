/** What handlers are given. Extra arguments that were settled with a handler replace others of the same name. */
import { eq } from "drizzle-orm";
import { isJsonObject, parseJson } from "../../../lib/json/json.ts";
import type { App } from "../../../platform/app/context.ts";
import { type Job, jobs } from "../../../platform/queue/tables.ts";
import { asSent } from "../../runs/arguments/caller-references.ts";
import type { Runner } from "../../runs/arguments/password-arguments.ts";
import type { Schedule } from "../schedules/tables.ts";
import type { HandlerCall } from "./tables.ts";

type Values = Record<string, unknown>;

/** Whom a handler's job runs as. */
interface For {
  app: App;
  runner: Runner;
}

/**
 * What a job left, for somebody else's job: whoever wrote it into its result has none of the handler's rights, so that
 * what looks like a reference is text.
 */
async function leftBy({ app, runner }: For, result: string | null, otherwise: string): Promise<Values> {
  return keysOf(await asSent(app, runner, result ?? "null"), otherwise);
}

/** The keys of a result that is an object; any other is the value of the one key. */
function keysOf(result: string | null, otherwise: string): Values {
  const value: unknown = parseJson(result ?? "null");
  if (isJsonObject(value)) return value;
  return { [otherwise]: value };
}

function factsOf({ workspace_id, id, script_path, kind, started_at, email }: Job): Values {
  return { workspace_id, job_id: id, path: script_path, is_flow: kind === "flow", started_at, email };
}

/** Of the workspace's handler: what the job left as its error, and which job it was. */
export async function errorArguments(to: For, job: Job, extra: Values | null | undefined): Promise<Values> {
  return { ...(await leftBy(to, job.result, "error")), ...factsOf(job), ...extra };
}

/** Of a schedule's handler that hears of failures. */
export async function failureArguments(
  to: For,
  job: Job,
  call: HandlerCall,
  { on_failure_extra_args }: Schedule,
): Promise<Values> {
  const { schedule_path, times } = call;
  const counted = { schedule_path, failed_times: times };
  const left = await leftBy(to, job.result, "error");
  return { ...left, ...factsOf(job), ...counted, ...on_failure_extra_args };
}

/** Of a schedule's handler that hears of every good end. */
export async function successArguments(
  to: For,
  job: Job,
  call: HandlerCall,
  { on_success_extra_args }: Schedule,
): Promise<Values> {
  const { schedule_path } = call;
  const left = await leftBy(to, job.result, "result");
  return { ...left, ...factsOf(job), schedule_path, ...on_success_extra_args };
}

/** Of a schedule's handler that hears of recoveries: what had failed, and what is well again. */
export async function recoveryArguments(
  to: For,
  job: Job,
  { schedule_path, times, failed_job }: HandlerCall,
  { is_flow, on_recovery_extra_args }: Schedule,
): Promise<Values> {
  const [failed] = await to.app.db.read
    .select({ result: jobs.result, started_at: jobs.started_at })
    .from(jobs)
    .where(eq(jobs.id, failed_job ?? ""));
  const { error = null } = failed ? await leftBy(to, failed.result, "error") : {};
  return {
    error,
    error_started_at: failed?.started_at ?? null,
    schedule_path,
    path: job.script_path,
    is_flow,
    success_result: parseJson(await asSent(to.app, to.runner, job.result ?? "null")),
    success_times: times,
    success_started_at: job.started_at,
    ...on_recovery_extra_args,
  };
}
