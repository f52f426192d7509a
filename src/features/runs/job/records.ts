/** Job records in the HTTP interface. */

import { getTableColumns, sql } from "drizzle-orm";
import { parseJson } from "../../../lib/json/json.ts";
import * as z from "../../../lib/zod/z.ts";
import type { Caller } from "../../../platform/app/context.ts";
import { isoTimestamp } from "../../../platform/http/operation.ts";
import { type Job, jobs } from "../../../platform/queue/tables.ts";
import { isTriggerToken } from "../../tenancy/tokens/scopes.ts";
import { FlowStatus } from "./flow-status.ts";
import { expandIsolation } from "./isolation.ts";
import { TOO_BIG_PLACEHOLDER } from "./too-big.ts";

/** Maximum characters of log in a job's record; get_logs returns all of it. */
export const MAX_LOG_CHARS = 20_000;

/** Maximum characters of arguments, and of result, in a job's record; get_args and get_result return all of them. */
const MAX_JSON_CHARS = 90_000;

export const JobRecord = z
  .object({
    type: z.enum(["QueuedJob", "CompletedJob"]),
    id: z.uuid(),
    workspace_id: z.string(),
    parent_job: z.string().optional(),
    root_job: z.string().optional(),
    created_by: z.string(),
    created_at: isoTimestamp,
    started_at: isoTimestamp.optional(),
    scheduled_for: isoTimestamp.optional(),
    completed_at: isoTimestamp.optional(),
    running: z.boolean().optional(),
    duration_ms: z.number().optional(),
    success: z.boolean().optional(),
    is_skipped: z.boolean().optional(),
    result: z.unknown().optional(),
    deleted: z.boolean().optional(),
    labels: z.array(z.string()).optional(),
    script_path: z.string().optional(),
    script_hash: z.string().optional(),
    schedule_path: z.string().optional(),
    args: z.unknown().optional(),
    logs: z.string().optional(),
    raw_code: z.string().optional(),
    raw_lock: z.string().optional(),
    canceled: z.boolean(),
    canceled_by: z.string().optional(),
    canceled_reason: z.string().optional(),
    last_ping: isoTimestamp.optional(),
    /** Of a waiting flow: number of approvals still missing. */
    suspend: z.number().optional(),
    job_kind: z.string(),
    permissioned_as: z.string(),
    email: z.string(),
    is_flow_step: z.boolean(),
    flow_status: FlowStatus.optional(),
    raw_flow: z.unknown().optional(),
    language: z.string().optional(),
    visible_to_owner: z.boolean(),
    mem_peak: z.number().optional(),
    /** One-line summary of the sandbox around its process. */
    isolation: z.string().optional(),
    tag: z.string(),
    priority: z.number().optional(),
    self_wait_time_ms: z.number().optional(),
    preprocessed: z.boolean().optional(),
    worker: z.string().optional(),
    trigger_kind: z.string().optional(),
    /** Path of the trigger that started it, if it has one. */
    trigger: z.string().optional(),
  })
  .meta({ id: "Job" });
export type JobRecord = z.input<typeof JobRecord>;

const {
  args: _args,
  result: _result,
  raw_code: _code,
  raw_lock: _lock,
  raw_flow: _flow,
  flow_body: _body,
  preprocessor_input: _input,
  ...lightColumns
} = getTableColumns(jobs);

/** Columns of a list entry, without the large ones. */
export { lightColumns };

/** Bytes of a character in UTF-8. */
const MAX_CHARACTER_BYTES = 4;
/** Columns of a list entry with arguments; null if they are too large for it, so that they are not read. */
export const columnsWithArguments = {
  ...lightColumns,
  args: sql<
    string | null
  >`CASE WHEN octet_length(${jobs.args}) <= ${sql.raw(`${MAX_CHARACTER_BYTES * MAX_JSON_CHARS}`)} THEN ${jobs.args} END`,
};
export type JobSummaryRow = Pick<Job, keyof typeof lightColumns>;

export function toJobSummary(job: JobSummaryRow): JobRecord {
  const completed = job.state === "completed";
  return {
    type: completed ? "CompletedJob" : "QueuedJob",
    id: job.id,
    workspace_id: job.workspace_id,
    parent_job: job.parent_job ?? undefined,
    root_job: job.root_job ?? undefined,
    created_by: job.created_by,
    created_at: job.created_at,
    // A job that was canceled in the queue never started; clients read the field of every completed job.
    started_at: job.started_at ?? (completed ? (job.completed_at ?? undefined) : undefined),
    ...(completed
      ? completedFields(job)
      : { running: job.state === "running", scheduled_for: job.scheduled_for }),
    deleted: job.deleted || undefined,
    labels: job.labels ?? undefined,
    script_path: job.script_path ?? undefined,
    script_hash: job.script_hash ?? undefined,
    schedule_path: job.schedule_path ?? undefined,
    canceled: job.status === "canceled" || (!completed && job.cancel_requested),
    canceled_by: job.canceled_by ?? undefined,
    canceled_reason: job.canceled_reason ?? undefined,
    last_ping: completed ? undefined : (job.last_ping ?? undefined),
    job_kind: job.kind,
    permissioned_as: job.permissioned_as,
    email: job.email,
    is_flow_step: job.flow_step_id !== null,
    language: job.language ?? undefined,
    visible_to_owner: job.visible_to_owner,
    mem_peak: job.mem_peak_kb ?? undefined,
    isolation: expandIsolation(job.isolation) ?? undefined,
    tag: job.tag,
    priority: job.priority || undefined,
    self_wait_time_ms: job.started_at ? job.started_at.getTime() - job.scheduled_for.getTime() : undefined,
    preprocessed: job.preprocessed ?? undefined,
    worker: job.worker ?? undefined,
    trigger_kind: job.trigger_kind ?? undefined,
    trigger: job.schedule_path ?? undefined,
  };
}

export function toJobSummaryWithArguments(job: JobSummaryRow & { args: string | null }): JobRecord {
  const isTooBig = job.args === null || job.args.length > MAX_JSON_CHARS;
  const args = isTooBig ? { reason: TOO_BIG_PLACEHOLDER } : parseJson(job.args!);
  return { ...toJobSummary(job), args };
}

function completedFields(job: JobSummaryRow): Partial<JobRecord> {
  return {
    completed_at: job.completed_at ?? undefined,
    duration_ms: job.duration_ms ?? 0,
    success: hasSucceeded(job),
    is_skipped: job.status === "skipped",
  };
}

export function hasSucceeded(job: Pick<Job, "status">): boolean {
  return job.status === "success" || job.status === "skipped";
}

/** Creates the whole record, with the log only if given, and without values that are too large. */
export function toJobRecord(job: Job, logs?: string, options: { no_code?: boolean } = {}): JobRecord {
  return {
    ...toJobSummaryWithArguments(job),
    ...(job.state === "completed" ? { result: recordResult(job) } : {}),
    ...(options.no_code ? {} : { raw_code: job.raw_code ?? undefined, raw_lock: job.raw_lock ?? undefined }),
    ...(logs === undefined ? {} : { logs: logs.slice(-MAX_LOG_CHARS) }),
  };
}

/** Whether a caller may see e-mail addresses: members may, unless their token only triggers runs. */
export function canSeeAccounts({ member, identity }: Caller): boolean {
  return member !== undefined && !(identity && isTriggerToken(identity));
}

/** Removes e-mail addresses and the worker from a record for callers that may not see them. */
export function redactRecord(caller: Caller, record: JobRecord): JobRecord {
  if (canSeeAccounts(caller)) return record;
  return { ...record, permissioned_as: "", email: "", canceled_by: undefined, worker: undefined };
}

function recordResult({ result }: Job): unknown {
  if (result === null) return null;
  return result.length > MAX_JSON_CHARS ? TOO_BIG_PLACEHOLDER : parseJson(result);
}

/** Creates a response from stored JSON text, unchanged and without parsing it. */
export function createJsonResponse(text: string): Response {
  return new Response(text, { headers: { "content-type": "application/json" } });
}
