import { kit, sql } from "../../database/kit.ts";
import type { JobKind, JobState, JobStatus } from "./states.ts";

const { table, text, integer, boolean, timestamp, json, index, primaryKey } = kit;

/** One row a job, from submission to retention. `args` and `result` are JSON text that nobody here parses. */
export const jobs = table(
  "jobs",
  {
    id: text("id").primaryKey(),
    workspace_id: text("workspace_id").notNull(),
    kind: text("kind").$type<JobKind>().notNull(),
    state: text("state").$type<JobState>().notNull(),
    /** Set with `completed`. */
    status: text("status").$type<JobStatus>(),
    created_by: text("created_by").notNull(),
    permissioned_as: text("permissioned_as").notNull(),
    email: text("email").notNull(),
    /** E-mail of who asked for it, where it runs on behalf of somebody else. */
    started_by: text("started_by"),
    created_at: timestamp("created_at").notNull(),
    scheduled_for: timestamp("scheduled_for").notNull(),
    started_at: timestamp("started_at"),
    completed_at: timestamp("completed_at"),
    duration_ms: integer("duration_ms"),
    script_path: text("script_path"),
    script_hash: text("script_hash"),
    language: text("language"),
    tag: text("tag").notNull(),
    priority: integer("priority").notNull().default(0),
    timeout_s: integer("timeout_s"),
    args: text("args").notNull(),
    result: text("result"),
    raw_code: text("raw_code"),
    raw_lock: text("raw_lock"),
    /** JSON text handed to the preprocessor before main. */
    preprocessor_input: text("preprocessor_input"),
    preprocessed: boolean("preprocessed"),
    parent_job: text("parent_job"),
    root_job: text("root_job"),
    /** The request that asked for it, or for the flow it is a step of: what the log's lines of both name. */
    request_id: text("request_id"),
    visible_to_owner: boolean("visible_to_owner").notNull().default(true),
    trigger_kind: text("trigger_kind"),
    schedule_path: text("schedule_path"),
    /** The module of the parent's flow that this job runs, and which iteration or branch of it. */
    flow_step_id: text("flow_step_id"),
    flow_index: integer("flow_index"),
    /** The deployed flow version it runs, or is a step of. */
    flow_version: integer("flow_version"),
    /** JSON text of a flow that is not deployed. */
    raw_flow: text("raw_flow"),
    /** Which modules of its flow a nested frame runs; of other jobs, where they begin when not as usual. JSON text. */
    flow_body: text("flow_body"),
    /** Of the jobs with this key in the workspace, at most `concurrent_limit` begin within any window. */
    concurrency_key: text("concurrency_key"),
    concurrent_limit: integer("concurrent_limit"),
    concurrency_time_window_s: integer("concurrency_time_window_s"),
    /** It was due and had to give way: `scheduled_for` was moved on, and moves back when one of its key ends. */
    concurrency_blocked: boolean("concurrency_blocked").notNull().default(false),
    /** Seconds for which its result serves other runs of the same code, arguments and identity. */
    cache_ttl: integer("cache_ttl"),
    /** Arguments, result and log are kept in memory only: the row never holds them. */
    delete_after_use: boolean("delete_after_use").notNull().default(false),
    /** Percent, as the job itself tells. */
    progress: integer("progress"),
    cancel_requested: boolean("cancel_requested").notNull().default(false),
    canceled_by: text("canceled_by"),
    canceled_reason: text("canceled_reason"),
    /** Who runs it, and when that worker last said so. */
    worker: text("worker"),
    last_ping: timestamp("last_ping"),
    /** How often it lost its worker while it ran. */
    attempts: integer("attempts").notNull().default(0),
    /** How often it lost its worker at all: many are claimed ahead of those that run. */
    losses: integer("losses").notNull().default(0),
    /** Its process has been busy with it for a moment: losing the worker from here on is an attempt. */
    begun: boolean("begun").notNull().default(false),
    mem_peak_kb: integer("mem_peak_kb"),
    /** In a line, what held around the process that ran it; set at its end. */
    isolation: text("isolation"),
    labels: json<string[]>("labels"),
    deleted: boolean("deleted").notNull().default(false),
  },
  (t) => [
    index("jobs_by_creation").on(t.workspace_id, t.created_at, t.id),
    index("jobs_queued").on(sql`priority DESC`, t.scheduled_for, t.id).where(sql`state = 'queued'`),
    index("jobs_running").on(t.worker).where(sql`state = 'running'`),
    index("jobs_held").on(t.workspace_id).where(sql`state = 'held'`),
    index("jobs_completed").on(t.completed_at).where(sql`state = 'completed'`),
    index("jobs_by_path_and_creation").on(t.workspace_id, t.script_path, t.created_at, t.id),
    index("jobs_by_parent").on(t.parent_job).where(sql`parent_job IS NOT NULL`),
    index("jobs_by_concurrency")
      .on(t.workspace_id, t.concurrency_key, t.started_at)
      .where(sql`concurrency_key IS NOT NULL`),
  ],
);

/** The log of a job in pieces; `seq` is the offset of a piece's first character in the whole (UTF-16 units). */
export const jobLogs = table(
  "job_logs",
  {
    job_id: text("job_id").notNull(),
    seq: integer("seq").notNull(),
    content: text("content").notNull(),
  },
  (t) => [primaryKey({ columns: [t.job_id, t.seq] })],
);

/** The result stream of a job in pieces, as its log. */
export const jobStreams = table(
  "job_streams",
  {
    job_id: text("job_id").notNull(),
    seq: integer("seq").notNull(),
    content: text("content").notNull(),
  },
  (t) => [primaryKey({ columns: [t.job_id, t.seq] })],
);

/** Results that serve later runs of the same code, arguments and identity, until they expire. */
export const jobCache = table(
  "job_cache",
  {
    /** SHA-256 of what makes two runs the same. */
    key: text("key").primaryKey(),
    workspace_id: text("workspace_id").notNull(),
    /** JSON text. */
    result: text("result").notNull(),
    expires_at: timestamp("expires_at").notNull(),
  },
  (t) => [index("job_cache_by_expiry").on(t.expires_at)],
);

/** Which job a caller's idempotency key stands for (draft-ietf-httpapi-idempotency-key-header). */
export const idempotencyKeys = table(
  "idempotency_keys",
  {
    workspace_id: text("workspace_id").notNull(),
    /** E-mail of the caller: keys of different callers never meet. */
    email: text("email").notNull(),
    key: text("key").notNull(),
    /** SHA-256 of what was asked for. */
    fingerprint: text("fingerprint").notNull(),
    job_id: text("job_id").notNull(),
    created_at: timestamp("created_at").notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.workspace_id, t.email, t.key] }),
    index("idempotency_keys_by_age").on(t.created_at),
  ],
);

export type Job = typeof jobs.$inferSelect;
export type NewJob = typeof jobs.$inferInsert;
