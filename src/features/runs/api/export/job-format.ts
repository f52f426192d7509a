/** The format of exported jobs: the whole row, and the log. */
import * as z from "../../../../lib/zod/z.ts";
import { isoTimestamp } from "../../../../platform/http/operation.ts";
import type { JobKind } from "../../../../platform/queue/states.ts";
import type { Job, NewJob } from "../../../../platform/queue/tables.ts";
import { abbreviateIsolation, expandIsolation } from "../../job/isolation.ts";

const line = z
  .string()
  .refine((text) => !text.includes("\0"), "contains a NUL character, which cannot be stored");
const text = line.nullish();
const count = z.number().int().min(0);
const number = count.nullish();
const jobId = z.uuid().toLowerCase();

export const ExportedQueuedJob = z.object({
  id: jobId,
  job_kind: line,
  created_by: line,
  created_at: isoTimestamp,
  scheduled_for: isoTimestamp.nullish(),
  permissioned_as: line,
  email: line,
  visible_to_owner: z.boolean().default(true),
  script_path: text,
  script_hash: text,
  language: text,
  tag: line,
  priority: number,
  timeout: number,
  args: z.record(z.string(), z.unknown()).nullish(),
  raw_code: text,
  raw_lock: text,
  raw_modules: text,
  preprocessor_input: z.unknown().optional(),
  parent_job: jobId.nullish(),
  root_job: jobId.nullish(),
  trigger_kind: text,
  schedule_path: text,
  concurrency_key: text,
  concurrent_limit: count.min(1).nullish(),
  concurrency_time_window_s: number,
  cache_ttl: z.number().min(0).max(Number.MAX_SAFE_INTEGER).nullish(),
});
export type ExportedQueuedJob = z.output<typeof ExportedQueuedJob>;

export const ExportedCompletedJob = ExportedQueuedJob.extend({
  status: z.enum(["success", "failure", "canceled", "skipped"]),
  started_at: isoTimestamp.nullish(),
  completed_at: isoTimestamp,
  duration_ms: number,
  result: z.unknown().optional(),
  logs: text,
  preprocessed: z.boolean().nullish(),
  canceled_by: text,
  canceled_reason: text,
  worker: text,
  mem_peak: number,
  isolation: text,
  progress: number,
  labels: z.array(z.string()).nullish(),
  deleted: z.boolean().nullish(),
});
export type ExportedCompletedJob = z.output<typeof ExportedCompletedJob>;

/** Formats the record as JSON text. JSON columns are inserted unchanged. */
export function formatExportedJob(job: Job, logs: string | undefined): string {
  const {
    workspace_id: _workspace,
    kind,
    state,
    timeout_s,
    mem_peak_kb,
    args,
    result,
    preprocessor_input,
    last_ping: _ping,
    attempts: _attempts,
    losses: _losses,
    begun: _begun,
    cancel_requested: _cancel,
    concurrency_blocked: _blocked,
    request_id: _request,
    delete_after_use: _delete,
    ...same
  } = job;
  const record = {
    ...same,
    job_kind: kind,
    timeout: timeout_s,
    mem_peak: mem_peak_kb,
    isolation: expandIsolation(job.isolation),
    is_skipped: state === "completed" ? job.status === "skipped" : undefined,
    logs,
  };
  const verbatim = [`"args":${args}`];
  if (state === "completed") verbatim.push(`"result":${result ?? "null"}`);
  if (preprocessor_input !== null) verbatim.push(`"preprocessor_input":${preprocessor_input}`);
  return `${JSON.stringify(record).slice(0, -1)},${verbatim.join(",")}}`;
}

/** Converts to the row of a job to run here. */
export function toQueuedRow(workspace_id: string, job: ExportedQueuedJob): NewJob {
  const { job_kind, timeout, args, preprocessor_input, priority, scheduled_for, ...same } = job;
  return {
    ...same,
    workspace_id,
    kind: job_kind as JobKind,
    state: "queued",
    scheduled_for: scheduled_for ?? job.created_at,
    priority: priority ?? 0,
    timeout_s: timeout ?? null,
    args: JSON.stringify(args ?? {}),
    preprocessor_input: preprocessor_input === undefined ? null : JSON.stringify(preprocessor_input),
  };
}

/** Converts to the row of a job that ran elsewhere. */
export function toCompletedRow(workspace_id: string, job: ExportedCompletedJob): NewJob {
  const { status, started_at, completed_at, preprocessed, canceled_by, canceled_reason } = job;
  return {
    ...toQueuedRow(workspace_id, job),
    state: "completed",
    status,
    started_at,
    completed_at,
    duration_ms: job.duration_ms ?? 0,
    result: job.deleted ? null : JSON.stringify(job.result ?? null),
    preprocessed,
    canceled_by,
    canceled_reason,
    worker: job.worker,
    mem_peak_kb: job.mem_peak ?? null,
    isolation: abbreviateIsolation(job.isolation ?? null),
    progress: job.progress,
    labels: job.labels,
    deleted: job.deleted ?? false,
  };
}
