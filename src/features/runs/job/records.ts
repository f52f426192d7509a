/** The records of jobs as they stand on the wire. */
import { getTableColumns } from "drizzle-orm";
import { z } from "zod";
import { parseJson } from "../../../lib/json/json.ts";
import type { Caller } from "../../../platform/app/context.ts";
import { moment } from "../../../platform/http/operation.ts";
import { type Job, jobs } from "../../../platform/queue/tables.ts";
import { onlyTriggers } from "../../tenancy/tokens/scopes.ts";
import { FlowStatus } from "./flow-status.ts";

/** Most characters of log inside a job's record; get_logs has all of it. */
export const LOG_TAIL = 20_000;

/** Most characters of arguments, and of result, inside a job's record; get_args and get_result have all of it. */
const MOST_JSON = 90_000;
/** What stands for them there: clients know the word. */
export const TOO_BIG = "WINDMILL_TOO_BIG";

export const JobRecord = z
  .object({
    type: z.enum(["QueuedJob", "CompletedJob"]),
    id: z.uuid(),
    workspace_id: z.string(),
    parent_job: z.string().optional(),
    root_job: z.string().optional(),
    created_by: z.string(),
    created_at: moment,
    started_at: moment.optional(),
    scheduled_for: moment.optional(),
    completed_at: moment.optional(),
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
    last_ping: moment.optional(),
    /** Of a flow that waits: how many approvals are still awaited. */
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
    /** In a line, what held around the process that ran it. */
    isolation: z.string().optional(),
    tag: z.string(),
    priority: z.number().optional(),
    self_wait_time_ms: z.number().optional(),
    preprocessed: z.boolean().optional(),
    worker: z.string().optional(),
    trigger_kind: z.string().optional(),
    /** Path of what started it, where that has one. */
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

/** Columns of a list's entry: the heavy ones stay away. */
export { lightColumns };
export type LightJob = Pick<Job, keyof typeof lightColumns>;

export function toSummary(job: LightJob): JobRecord {
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
    isolation: job.isolation ?? undefined,
    tag: job.tag,
    priority: job.priority || undefined,
    self_wait_time_ms: job.started_at ? job.started_at.getTime() - job.scheduled_for.getTime() : undefined,
    preprocessed: job.preprocessed ?? undefined,
    worker: job.worker ?? undefined,
    trigger_kind: job.trigger_kind ?? undefined,
    trigger: job.schedule_path ?? undefined,
  };
}

function completedFields(job: LightJob): Partial<JobRecord> {
  return {
    completed_at: job.completed_at ?? undefined,
    duration_ms: job.duration_ms ?? 0,
    success: isSuccess(job),
    is_skipped: job.status === "skipped",
  };
}

export function isSuccess(job: Pick<Job, "status">): boolean {
  return job.status === "success" || job.status === "skipped";
}

/** The whole record, without the log unless it is given, and without what is too big for a record. */
export function toRecord(job: Job, logs?: string, options: { no_code?: boolean } = {}): JobRecord {
  return {
    ...toSummary(job),
    args: job.args.length > MOST_JSON ? { reason: TOO_BIG } : parseJson(job.args),
    ...(job.state === "completed" ? { result: resultOf(job) } : {}),
    ...(options.no_code ? {} : { raw_code: job.raw_code ?? undefined, raw_lock: job.raw_lock ?? undefined }),
    ...(logs === undefined ? {} : { logs: logs.slice(-LOG_TAIL) }),
  };
}

/** Whether a caller may know of people: a member may, but for a token that only triggers something. */
export function mayKnowPeople({ member, identity }: Caller): boolean {
  return member !== undefined && !(identity && onlyTriggers(identity));
}

/** A record as the caller may see it: who may not know of people learns of no account, nor of the machine. */
export function toldTo(caller: Caller, record: JobRecord): JobRecord {
  if (mayKnowPeople(caller)) return record;
  return { ...record, permissioned_as: "", email: "", canceled_by: undefined, worker: undefined };
}

function resultOf({ result }: Job): unknown {
  if (result === null) return null;
  return result.length > MOST_JSON ? TOO_BIG : parseJson(result);
}

/** Stored JSON is answered letter by letter, whatever its size: it is not parsed on the way. */
export function storedJson(text: string): Response {
  return new Response(text, { headers: { "content-type": "application/json" } });
}
