/** What handlers are given. Extra arguments that were settled with a handler replace others of the same name. */
import { eq } from "drizzle-orm";
import type { App } from "../../context.ts";
import { type Job, jobs } from "../../queue/tables.ts";
import type { Schedule } from "../schedules/tables.ts";
import type { HandlerCall } from "./tables.ts";

type Values = Record<string, unknown>;

/** The keys of a result that is an object; any other is the value of the one key. */
function keysOf(result: string | null, otherwise: string): Values {
  const value: unknown = JSON.parse(result ?? "null");
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Values;
  return { [otherwise]: value };
}

function factsOf({ workspace_id, id, script_path, kind, started_at, email }: Job): Values {
  return { workspace_id, job_id: id, path: script_path, is_flow: kind === "flow", started_at, email };
}

/** Of the workspace's handler: what the job left as its error, and which job it was. */
export function errorArguments(job: Job, extra: Values | null | undefined): Values {
  return { ...keysOf(job.result, "error"), ...factsOf(job), ...extra };
}

/** Of a schedule's handler that hears of failures. */
export function failureArguments(job: Job, call: HandlerCall, { on_failure_extra_args }: Schedule): Values {
  const { schedule_path, times } = call;
  const counted = { schedule_path, failed_times: times };
  return { ...keysOf(job.result, "error"), ...factsOf(job), ...counted, ...on_failure_extra_args };
}

/** Of a schedule's handler that hears of every good end. */
export function successArguments(job: Job, call: HandlerCall, { on_success_extra_args }: Schedule): Values {
  const { schedule_path } = call;
  return { ...keysOf(job.result, "result"), ...factsOf(job), schedule_path, ...on_success_extra_args };
}

/** Of a schedule's handler that hears of recoveries: what had failed, and what is well again. */
export async function recoveryArguments(
  app: App,
  job: Job,
  { schedule_path, times, failed_job }: HandlerCall,
  { is_flow, on_recovery_extra_args }: Schedule,
): Promise<Values> {
  const [failed] = await app.db.read
    .select({ result: jobs.result, started_at: jobs.started_at })
    .from(jobs)
    .where(eq(jobs.id, failed_job ?? ""));
  const { error = null } = failed ? keysOf(failed.result, "error") : {};
  return {
    error,
    error_started_at: failed?.started_at ?? null,
    schedule_path,
    path: job.script_path,
    is_flow,
    success_result: JSON.parse(job.result ?? "null"),
    success_times: times,
    success_started_at: job.started_at,
    ...on_recovery_extra_args,
  };
}
