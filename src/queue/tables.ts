import { kit, sql } from "../database/kit.ts";
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
    visible_to_owner: boolean("visible_to_owner").notNull().default(true),
    trigger_kind: text("trigger_kind"),
    cancel_requested: boolean("cancel_requested").notNull().default(false),
    canceled_by: text("canceled_by"),
    canceled_reason: text("canceled_reason"),
    /** Who runs it, and when that worker last said so. */
    worker: text("worker"),
    last_ping: timestamp("last_ping"),
    /** Times it was put back because its worker was lost. */
    attempts: integer("attempts").notNull().default(0),
    mem_peak_kb: integer("mem_peak_kb"),
    labels: json<string[]>("labels"),
    deleted: boolean("deleted").notNull().default(false),
  },
  (t) => [
    index("jobs_by_workspace").on(t.workspace_id, t.id),
    index("jobs_queued").on(sql`priority DESC`, t.scheduled_for, t.id).where(sql`state = 'queued'`),
    index("jobs_running").on(t.worker).where(sql`state = 'running'`),
  ],
);

/** The log of a job in pieces, in order; offsets count characters over the whole. */
export const jobLogs = table(
  "job_logs",
  {
    job_id: text("job_id").notNull(),
    seq: integer("seq").notNull(),
    content: text("content").notNull(),
  },
  (t) => [primaryKey({ columns: [t.job_id, t.seq] })],
);

/** The result stream of a job in pieces, in order. */
export const jobStreams = table(
  "job_streams",
  {
    job_id: text("job_id").notNull(),
    seq: integer("seq").notNull(),
    content: text("content").notNull(),
  },
  (t) => [primaryKey({ columns: [t.job_id, t.seq] })],
);

export type Job = typeof jobs.$inferSelect;
export type NewJob = typeof jobs.$inferInsert;
