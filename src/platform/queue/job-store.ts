/** Statements of the hot path: inserting jobs and storing their completion. */
import { and, eq, getTableColumns, inArray, isNotNull, lt, not, or, sql } from "drizzle-orm";
import { jsonArrayRows } from "../../database/conditions.ts";
import { type Database, prepareBatchedStatement, type Tx } from "../../database/database.ts";
import { type Awaitable, continueWith } from "../../lib/async/awaitable.ts";
import { type JobStatus, MAX_ATTEMPTS, MAX_LOSSES } from "./states.ts";
import { type Job, jobLogs, jobStreams, jobs, type NewJob } from "./tables.ts";

const placeholder = sql.placeholder;

/** Columns set on every submission. */
const COMMON_COLUMNS = [
  "id",
  "workspace_id",
  "kind",
  "state",
  "created_by",
  "permissioned_as",
  "email",
  "created_at",
  "scheduled_for",
  "started_at",
  "last_ping",
  "script_path",
  "script_hash",
  "language",
  "tag",
  "priority",
  "args",
  "request_id",
  "visible_to_owner",
  "trigger_kind",
  "delete_after_use",
  "worker",
] as const satisfies (keyof NewJob)[];

/** Columns that are null for most jobs. */
const RARE_COLUMNS = [
  "started_by",
  "timeout_s",
  "raw_code",
  "raw_lock",
  "raw_modules",
  "preprocessor_input",
  "parent_job",
  "root_job",
  "schedule_path",
  "flow_step_id",
  "flow_index",
  "flow_version",
  "raw_flow",
  "flow_body",
  "concurrency_key",
  "concurrent_limit",
  "concurrency_time_window_s",
  "cache_ttl",
] as const satisfies (keyof NewJob)[];

/** Declares an insert of these columns; the others keep their defaults. */
function declareInsert(names: readonly (keyof NewJob)[]) {
  return prepareBatchedStatement<Record<string, unknown>, unknown>(
    (q) =>
      q
        .insert(jobs)
        .values(Object.fromEntries(names.map((name) => [name, placeholder(name)])) as unknown as NewJob),
    () => undefined,
  );
}

/** Each bound parameter takes time, so most jobs are inserted without the rare columns. */
const insertCommonStatement = declareInsert(COMMON_COLUMNS);
const insertStatement = declareInsert([...COMMON_COLUMNS, ...RARE_COLUMNS]);

function hasRareColumn(job: NewJob): boolean {
  for (const name of RARE_COLUMNS) if (job[name] !== null && job[name] !== undefined) return true;
  return false;
}

/** Inserts a job, `queued` or already `running`. */
export function insertJob(tx: Tx, job: NewJob): Awaitable<unknown> {
  const { priority, visible_to_owner, delete_after_use } = job;
  const statement = hasRareColumn(job) ? insertStatement : insertCommonStatement;
  // A copy costs more than the other work here.
  if (priority !== undefined && visible_to_owner !== undefined && delete_after_use !== undefined)
    return tx.exec(statement, job);
  const whole: NewJob = {
    ...job,
    priority: priority ?? 0,
    visible_to_owner: visible_to_owner ?? true,
    delete_after_use: delete_after_use ?? false,
  };
  return tx.exec(statement, whole);
}

const columns = getTableColumns(jobs);

/** The ids are a JSON array; all other values are shared. */
const insertEqualStatement = prepareBatchedStatement<Record<string, unknown>, unknown>(
  (q) => {
    const values = Object.entries(columns).map(([name, column]) =>
      name === "id" ? sql`ids.value` : sql`${sql.param(placeholder(name), column)}`,
    );
    return q
      .insert(jobs)
      .select(sql`select ${sql.join(values, sql`, `)} from ${jsonArrayRows(placeholder("ids"), "ids")}`);
  },
  () => undefined,
  ({ count }) => count as number,
);

/** Inserts jobs that differ only in their ids. */
export async function insertEqualJobs(tx: Tx, job: Job, ids: string[]): Promise<void> {
  if (ids.length > 0)
    await tx.exec(insertEqualStatement, { ...job, ids: JSON.stringify(ids), count: ids.length });
}

export interface JobCompletion {
  id: string;
  worker: string;
  status: JobStatus;
  result: string;
  completed_at: Date;
  duration_ms: number;
  mem_peak_kb: number | null;
  isolation: string | null;
  preprocessed: boolean | null;
  args: string | null;
  labels: string[] | null;
  canceled_by: string | null;
  canceled_reason: string | null;
}

const completeStatement = prepareBatchedStatement<
  Record<keyof JobCompletion | "leaves", unknown>,
  { id: unknown }[]
>(
  (q) =>
    q
      .update(jobs)
      .set({
        state: "completed",
        status: placeholder("status") as never,
        result: placeholder("result") as never,
        completed_at: placeholder("completed_at") as never,
        duration_ms: placeholder("duration_ms") as never,
        mem_peak_kb: placeholder("mem_peak_kb") as never,
        isolation: placeholder("isolation") as never,
        preprocessed: placeholder("preprocessed") as never,
        args: sql`coalesce(${placeholder("args")}, ${jobs.args})`,
        // Cleared: a sender's headers may hold secrets and are no longer needed.
        preprocessor_input: null,
        labels: placeholder("labels") as never,
        canceled_by: sql`coalesce(${placeholder("canceled_by")}, ${jobs.canceled_by})`,
        canceled_reason: sql`coalesce(${placeholder("canceled_reason")}, ${jobs.canceled_reason})`,
        deleted: sql`${jobs.delete_after_use}`,
      })
      // The state is a parameter, because PostgreSQL would otherwise scan the index of all running jobs for each row.
      .where(
        and(
          eq(jobs.id, placeholder("id")),
          eq(jobs.state, placeholder("leaves")),
          eq(jobs.worker, placeholder("worker")),
        ),
      )
      .returning({ id: jobs.id }),
  ({ id }) => [{ id }],
);

/**
 * Stores a job's completion.
 * @returns false, without changes, if this worker no longer holds the job: another worker has it, or it is completed
 */
export function storeCompletion(tx: Tx, outcome: JobCompletion): Awaitable<boolean> {
  const found = tx.exec(completeStatement, { ...outcome, leaves: "running" });
  return continueWith(found, (rows) => rows.length > 0);
}

/** Ids per statement, well within both databases' limits of parameters. */
const BATCH_SIZE = 1_000;

/** Deletes the output of lost jobs: their next attempt writes it again. */
export async function deleteOutput(tx: Tx, job_ids: string[]): Promise<void> {
  for (let at = 0; at < job_ids.length; at += BATCH_SIZE) {
    const some = job_ids.slice(at, at + BATCH_SIZE);
    await tx.delete(jobLogs).where(inArray(jobLogs.job_id, some));
    await tx.delete(jobStreams).where(inArray(jobStreams.job_id, some));
  }
}

const attemptsMade = sql`${jobs.attempts} + CASE WHEN ${jobs.begun} THEN 1 ELSE 0 END`;

/**
 * Marks running jobs as actually begun. A worker claims many jobs ahead, and only begun jobs count a lost worker as an
 * attempt.
 */
export async function markBegun(tx: Tx, worker: string, job_ids: string[]): Promise<void> {
  await tx
    .update(jobs)
    .set({ begun: true })
    .where(and(sql`${jobs.state} = 'running'`, eq(jobs.worker, worker), inArray(jobs.id, job_ids)));
}

/**
 * Requeues the running jobs of a lost worker: its heartbeat is older than `before`, or the process restarted on SQLite.
 * @returns requeued ids, and the jobs the caller must complete instead: canceled ones, and those out of attempts
 */
export async function requeueLostJobs(
  db: Database,
  options: { worker?: string; before?: Date },
): Promise<{ requeued: string[]; canceled: Job[]; exhausted: Job[] }> {
  return db.write(async (tx) => {
    const lost = and(
      sql`${jobs.state} = 'running'`,
      // A running flow has no worker: it waits for its steps.
      isNotNull(jobs.worker),
      options.worker === undefined ? undefined : eq(jobs.worker, options.worker),
      options.before === undefined ? undefined : lt(jobs.last_ping, options.before),
    );
    const isOver = or(
      eq(jobs.cancel_requested, true),
      // Jobs whose arguments existed only in the lost worker's memory.
      eq(jobs.delete_after_use, true),
      sql`${attemptsMade} >= ${MAX_ATTEMPTS}`,
      sql`${jobs.losses} + 1 >= ${MAX_LOSSES}`,
    );
    const over = await tx.select().from(jobs).where(and(lost, isOver));
    const requeued = await tx
      .update(jobs)
      .set({
        state: "queued",
        worker: null,
        started_at: null,
        last_ping: null,
        attempts: attemptsMade,
        losses: sql`${jobs.losses} + 1`,
        begun: false,
      })
      .where(and(lost, not(isOver!)))
      .returning({ id: jobs.id });
    const ids = requeued.map((row) => row.id);
    await deleteOutput(tx, ids);
    return {
      requeued: ids,
      canceled: over.filter((job) => job.cancel_requested),
      exhausted: over.filter((job) => !job.cancel_requested),
    };
  });
}
