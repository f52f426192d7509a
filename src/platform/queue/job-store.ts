/** The statements of the hot path: storing a job, and its end. */
import { and, eq, getTableColumns, inArray, isNotNull, lt, not, or, sql } from "drizzle-orm";
import { textsOf } from "../../database/conditions.ts";
import { type Database, sharedStatement, type Tx } from "../../database/database.ts";
import { type JobStatus, MAX_ATTEMPTS, MAX_LOSSES } from "./states.ts";
import { type Job, jobLogs, jobStreams, jobs, type NewJob } from "./tables.ts";

const p = sql.placeholder;

/** Columns a job is submitted with; the others keep their defaults. */
const SUBMITTED = [
  "id",
  "workspace_id",
  "kind",
  "state",
  "created_by",
  "permissioned_as",
  "email",
  "started_by",
  "created_at",
  "scheduled_for",
  "started_at",
  "last_ping",
  "script_path",
  "script_hash",
  "language",
  "tag",
  "priority",
  "timeout_s",
  "args",
  "raw_code",
  "raw_lock",
  "preprocessor_input",
  "parent_job",
  "root_job",
  "request_id",
  "visible_to_owner",
  "trigger_kind",
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
  "delete_after_use",
  "worker",
] as const satisfies (keyof NewJob)[];

const insert = sharedStatement<Record<string, unknown>, unknown>(
  (q) =>
    q.insert(jobs).values(Object.fromEntries(SUBMITTED.map((name) => [name, p(name)])) as unknown as NewJob),
  () => undefined,
);

/** Stores a job as submitted, `queued` or already `running`. */
export async function insertJob(tx: Tx, job: NewJob): Promise<void> {
  const values: Record<string, unknown> = {};
  for (const name of SUBMITTED) values[name] = job[name] ?? null;
  values.priority = job.priority ?? 0;
  values.visible_to_owner = job.visible_to_owner ?? true;
  values.delete_after_use = job.delete_after_use ?? false;
  await tx.exec(insert, values);
}

const columns = getTableColumns(jobs);

/** Their ids come as a JSON array; all else they have in common. */
const insertEqual = sharedStatement<Record<string, unknown>, unknown>(
  (q) => {
    const values = Object.entries(columns).map(([name, column]) =>
      name === "id" ? sql`ids.value` : sql`${sql.param(p(name), column)}`,
    );
    return q.insert(jobs).select(sql`select ${sql.join(values, sql`, `)} from ${textsOf(p("ids"), "ids")}`);
  },
  () => undefined,
  ({ count }) => count as number,
);

/** Stores jobs that differ in nothing but their ids. */
export async function insertEqualJobs(tx: Tx, job: Job, ids: string[]): Promise<void> {
  if (ids.length > 0) await tx.exec(insertEqual, { ...job, ids: JSON.stringify(ids), count: ids.length });
}

export interface Finish {
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

const finish = sharedStatement<Record<keyof Finish | "leaves", unknown>, { id: unknown }[]>(
  (q) =>
    q
      .update(jobs)
      .set({
        state: "completed",
        status: p("status") as never,
        result: p("result") as never,
        completed_at: p("completed_at") as never,
        duration_ms: p("duration_ms") as never,
        mem_peak_kb: p("mem_peak_kb") as never,
        isolation: p("isolation") as never,
        preprocessed: p("preprocessed") as never,
        args: sql`coalesce(${p("args")}, ${jobs.args})`,
        // Headers of a sender, which nobody reads any more, may hold its secrets.
        preprocessor_input: null,
        labels: p("labels") as never,
        canceled_by: sql`coalesce(${p("canceled_by")}, ${jobs.canceled_by})`,
        canceled_reason: sql`coalesce(${p("canceled_reason")}, ${jobs.canceled_reason})`,
        deleted: sql`${jobs.delete_after_use}`,
      })
      // The state is a parameter: PostgreSQL would otherwise read the index of all that run, for each row.
      .where(and(eq(jobs.id, p("id")), eq(jobs.state, p("leaves")), eq(jobs.worker, p("worker"))))
      .returning({ id: jobs.id }),
  ({ id }) => [{ id }],
);

/**
 * Stores how a job ended.
 * @returns false when this worker no longer holds it (it was given to another, or is completed): nothing is changed
 */
export async function finishJob(tx: Tx, outcome: Finish): Promise<boolean> {
  const rows = await tx.exec(finish, { ...outcome, leaves: "running" });
  return rows.length > 0;
}

/** Most parameters of one statement that both databases take with room to spare. */
const MOST_IDS = 1_000;

/** What a job said before it lost its worker: it begins again, and says it again. */
export async function forgetOutput(tx: Tx, job_ids: string[]): Promise<void> {
  for (let at = 0; at < job_ids.length; at += MOST_IDS) {
    const some = job_ids.slice(at, at + MOST_IDS);
    await tx.delete(jobLogs).where(inArray(jobLogs.job_id, some));
    await tx.delete(jobStreams).where(inArray(jobStreams.job_id, some));
  }
}

const attemptsMade = sql`${jobs.attempts} + CASE WHEN ${jobs.begun} THEN 1 ELSE 0 END`;

/**
 * Says of jobs that run here that they have begun: who claims jobs takes many ahead, and whether a job is tried again
 * after its worker was lost depends on how often it ran.
 */
export async function markBegun(tx: Tx, worker: string, job_ids: string[]): Promise<void> {
  await tx
    .update(jobs)
    .set({ begun: true })
    .where(and(sql`${jobs.state} = 'running'`, eq(jobs.worker, worker), inArray(jobs.id, job_ids)));
}

/**
 * Puts back what a worker held: at the start of the only server of a data directory, and when a worker is lost.
 * @returns the ids put back, and the jobs that must be ended instead: somebody canceled them, or they were tried too often
 */
export async function putBack(
  db: Database,
  options: { worker?: string; before?: Date },
): Promise<{ requeued: string[]; canceled: Job[]; exhausted: Job[] }> {
  return db.write(async (tx) => {
    const lost = and(
      sql`${jobs.state} = 'running'`,
      // A flow that runs is held by no worker: it waits for its steps.
      isNotNull(jobs.worker),
      options.worker === undefined ? undefined : eq(jobs.worker, options.worker),
      options.before === undefined ? undefined : lt(jobs.last_ping, options.before),
    );
    const isOver = or(
      eq(jobs.cancel_requested, true),
      // Its arguments were in the lost worker's memory, and nowhere else.
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
    await forgetOutput(tx, ids);
    return {
      requeued: ids,
      canceled: over.filter((job) => job.cancel_requested),
      exhausted: over.filter((job) => !job.cancel_requested),
    };
  });
}
