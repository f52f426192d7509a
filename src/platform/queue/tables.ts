import { sql, tableKit } from "../../database/kit.ts";
import type { JobKind, JobState, JobStatus } from "./states.ts";

const { table, text, integer, words, boolean, timestamp, json, index, uniqueIndex, primaryKey } = tableKit;

/** One row per job, from submission to retention. `args` and `result` are JSON text and are not parsed here. */
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
    /** E-mail of the submitter, if the job runs on behalf of someone else. */
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
    /** JSON text: sources of undeployed scripts that the code imports, by script path. */
    raw_modules: text("raw_modules"),
    /** JSON text handed to the preprocessor before main. */
    preprocessor_input: text("preprocessor_input"),
    preprocessed: boolean("preprocessed"),
    parent_job: text("parent_job"),
    root_job: text("root_job"),
    /** Id of the request that submitted the job or its flow, for log lines. */
    request_id: text("request_id"),
    visible_to_owner: boolean("visible_to_owner").notNull().default(true),
    trigger_kind: text("trigger_kind"),
    schedule_path: text("schedule_path"),
    /** The flow step that this job runs, and its iteration or branch. */
    flow_step_id: text("flow_step_id"),
    flow_index: integer("flow_index"),
    /** Deployed flow version that the job runs or belongs to. */
    flow_version: integer("flow_version"),
    /** JSON text of a flow that is not deployed. */
    raw_flow: text("raw_flow"),
    /**
     * JSON text. For a nested frame: the modules that it runs. For other jobs: where they start, if not at the
     * beginning.
     */
    flow_body: text("flow_body"),
    /** Of the jobs with this key in the workspace, at most `concurrent_limit` start within any time window. */
    concurrency_key: text("concurrency_key"),
    concurrent_limit: integer("concurrent_limit"),
    concurrency_time_window_s: integer("concurrency_time_window_s"),
    /** Blocked by its concurrency limit; `scheduled_for` is postponed until a slot is free. */
    concurrency_blocked: boolean("concurrency_blocked").notNull().default(false),
    /** Seconds for which its result is reused for runs with the same code, arguments and identity. */
    cache_ttl: integer("cache_ttl"),
    /** Arguments, result and log stay in memory and are never stored. */
    delete_after_use: boolean("delete_after_use").notNull().default(false),
    /** Percent, as reported by the job. */
    progress: integer("progress"),
    cancel_requested: boolean("cancel_requested").notNull().default(false),
    canceled_by: text("canceled_by"),
    canceled_reason: text("canceled_reason"),
    /** Worker that holds the job, and that worker's last heartbeat. */
    worker: text("worker"),
    last_ping: timestamp("last_ping"),
    /** Number of times its worker was lost while it ran. */
    attempts: integer("attempts").notNull().default(0),
    /** Number of times its worker was lost in total: workers claim more jobs than they run at once. */
    losses: integer("losses").notNull().default(0),
    /** The job has run for a moment: from here on, losing the worker counts as an attempt. */
    begun: boolean("begun").notNull().default(false),
    mem_peak_kb: integer("mem_peak_kb"),
    /** Summary of the sandbox around its process, abbreviated (features/runs/job/isolation.ts); set on completion. */
    isolation: text("isolation"),
    labels: json<string[]>("labels"),
    deleted: boolean("deleted").notNull().default(false),
  },
  (t) => [
    index("jobs_by_creation").on(t.workspace_id, t.created_at, t.id),
    index("jobs_queued").on(sql`priority DESC`, t.scheduled_for, t.id).where(sql`state = 'queued'`),
    index("jobs_planned").on(t.workspace_id, t.schedule_path).where(sql`state = 'planned'`),
    index("jobs_running").on(t.worker).where(sql`state = 'running'`),
    index("jobs_held").on(t.workspace_id).where(sql`state = 'held'`),
    index("jobs_completed").on(t.completed_at).where(sql`state = 'completed'`),
    index("jobs_by_path_and_creation").on(t.workspace_id, t.script_path, t.created_at, t.id),
    index("jobs_by_parent").on(t.parent_job).where(sql`parent_job IS NOT NULL`),
    index("jobs_blocked")
      .on(t.workspace_id, t.concurrency_key, sql`priority DESC`, t.id)
      .where(sql`state = 'queued' AND concurrency_blocked`),
    index("jobs_by_concurrency")
      .on(t.workspace_id, t.concurrency_key, t.started_at)
      .where(sql`concurrency_key IS NOT NULL`),
  ],
);

/** Job logs in chunks; `seq` is the offset of a chunk's first character in the whole log (UTF-16 units). */
export const jobLogs = table(
  "job_logs",
  {
    job_id: text("job_id").notNull(),
    seq: integer("seq").notNull(),
    content: text("content").notNull(),
  },
  (t) => [primaryKey({ columns: [t.job_id, t.seq] })],
);

/** Result streams in chunks, like the logs. */
export const jobStreams = table(
  "job_streams",
  {
    job_id: text("job_id").notNull(),
    seq: integer("seq").notNull(),
    content: text("content").notNull(),
  },
  (t) => [primaryKey({ columns: [t.job_id, t.seq] })],
);

/**
 * Full-text index of completed jobs; later jobs have greater `id`s (features/runs/search/rows.ts). SQLite has an FTS5
 * table `job_search_words` over it, kept up to date by triggers; PostgreSQL has a GIN index (see the migrations). It
 * can be rebuilt from `jobs`, so backups leave it out.
 */
export const jobSearch = table(
  "job_search",
  {
    id: integer("id").primaryKey(),
    job_id: text("job_id").notNull(),
    workspace_id: text("workspace_id").notNull().default(""),
    words: words("words").notNull(),
  },
  (t) => [
    uniqueIndex("job_search_by_job").on(t.job_id),
    index("job_search_by_workspace").on(t.workspace_id, t.id),
  ],
);

/** One row: the last completed job in `job_search`, in the order of `completed_at` and id. */
export const jobSearchProgress = table("job_search_progress", {
  id: integer("id").primaryKey(),
  completed_at: timestamp("completed_at").notNull(),
  /** Always empty: a row with the id of a job in a column of this name would be deleted with the job. */
  job_id: text("job_id").notNull(),
  /** Id of the job. */
  last_job: text("last_job").notNull().default(""),
  /** Jobs created before this may be missing from the index; null: it is complete. */
  oldest: timestamp("oldest"),
});

/** Cached results, reused for the same code, arguments and identity until they expire. */
export const jobCache = table(
  "job_cache",
  {
    /** SHA-256 over code, arguments and identity. */
    key: text("key").primaryKey(),
    workspace_id: text("workspace_id").notNull(),
    /** JSON text. */
    result: text("result").notNull(),
    expires_at: timestamp("expires_at").notNull(),
  },
  (t) => [index("job_cache_by_expiry").on(t.expires_at)],
);

/** Idempotency keys and their jobs (draft-ietf-httpapi-idempotency-key-header). */
export const idempotencyKeys = table(
  "idempotency_keys",
  {
    workspace_id: text("workspace_id").notNull(),
    /** E-mail of the caller: different callers may use the same key. */
    email: text("email").notNull(),
    key: text("key").notNull(),
    /** SHA-256 of the request. */
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
