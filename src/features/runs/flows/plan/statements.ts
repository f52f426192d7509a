/** Prepared statements of transitions. */
import { and, eq, ne, sql } from "drizzle-orm";
import { prepareStatement, type Tx } from "../../../../database/database.ts";
import { dialect } from "../../../../database/kit.ts";
import type { FrameState } from "../../../../engines/flow-engine/state.ts";
import { insertJob } from "../../../../platform/queue/job-store.ts";
import type { JobStatus } from "../../../../platform/queue/states.ts";
import { type Job, jobs } from "../../../../platform/queue/tables.ts";
import { type FlowFrame, flowFrames } from "../../../code/flows/tables.ts";

const placeholder = sql.placeholder;

/** The run's row, if its version is still the one that the plan started from. */
const isUnchanged = and(
  eq(flowFrames.job_id, placeholder("root_id")),
  eq(flowFrames.version, placeholder("from")),
);
const nextVersion = sql`${flowFrames.version} + 1`;

/** Increments the version of a run, unless it was changed. */
export const claimVersion = prepareStatement<{ root_id: string; from: number }, { job_id: string }[]>(
  (q) =>
    q
      .update(flowFrames)
      .set({ version: nextVersion })
      .where(isUnchanged)
      .returning({ job_id: flowFrames.job_id }),
  ({ root_id }) => [{ job_id: root_id }],
);

/** Increments the version of a run and updates its own frame, unless it was changed. */
export const claimVersionAndUpdate = prepareStatement<
  { root_id: string; from: number; state: FrameState; wake_at: Date | null },
  { job_id: string }[]
>(
  (q) =>
    q
      .update(flowFrames)
      .set({ version: nextVersion, state: placeholder("state"), wake_at: placeholder("wake_at") as never })
      .where(isUnchanged)
      .returning({ job_id: flowFrames.job_id }),
  ({ root_id }) => [{ job_id: root_id }],
);

const insertFrame = prepareStatement<FlowFrame, unknown>((q) =>
  q.insert(flowFrames).values({
    job_id: placeholder("job_id"),
    root_job: placeholder("root_job"),
    state: placeholder("state"),
    version: placeholder("version"),
    wake_at: placeholder("wake_at"),
  }),
);

export const updateFrameRow = prepareStatement<
  { job_id: string; state: FrameState; wake_at: Date | null },
  unknown
>((q) =>
  q
    .update(flowFrames)
    .set({ state: placeholder("state"), wake_at: placeholder("wake_at") as never })
    .where(eq(flowFrames.job_id, placeholder("job_id"))),
);

export const completeFrameRow = prepareStatement<
  {
    id: string;
    status: JobStatus;
    result: string;
    labels: string[] | null;
    completed_at: Date;
    duration_ms: number;
  },
  unknown
>((q) =>
  q
    .update(jobs)
    .set({
      state: "completed",
      status: placeholder("status") as never,
      result: placeholder("result") as never,
      labels: placeholder("labels") as never,
      // Cleared: it may hold secrets from the sender's headers and is no longer read.
      preprocessor_input: null,
      completed_at: placeholder("completed_at") as never,
      duration_ms: placeholder("duration_ms") as never,
    })
    .where(and(eq(jobs.id, placeholder("id")), ne(jobs.state, "completed"))),
);

/** Rows per INSERT. Only a few sizes, because PostgreSQL keeps each prepared statement. */
const BATCH_SIZES = [64, 8, 1];

function* splitIntoBatches<T>(rows: readonly T[]): Generator<T[]> {
  let at = 0;
  for (const size of BATCH_SIZES) {
    for (; rows.length - at >= size; at += size) yield rows.slice(at, at + size);
  }
}

/** Inserts jobs. On SQLite a statement is a function call; on PostgreSQL a round trip, so rows are batched. */
export async function insertJobs(tx: Tx, rows: readonly Job[]): Promise<void> {
  if (dialect === "postgres") {
    for (const some of splitIntoBatches(rows)) await tx.insert(jobs).values(some);
  } else for (const row of rows) await insertJob(tx, row);
}

/** Inserts identity steps as completed, with their arguments as results. */
export async function insertCompletedLeaves(tx: Tx, rows: readonly Job[]): Promise<void> {
  const ended = (job: Job) =>
    ({
      status: "success",
      result: job.args,
      labels: null,
      completed_at: job.created_at,
      duration_ms: 0,
    }) as const;
  const begun = rows.map((job): Job => ({ ...job, state: "running", started_at: job.created_at }));
  if (dialect === "postgres") {
    return insertJobs(
      tx,
      begun.map((job) => ({ ...job, ...ended(job), state: "completed", preprocessor_input: null })),
    );
  }
  for (const job of begun) {
    await insertJob(tx, job);
    await tx.exec(completeFrameRow, { id: job.id, ...ended(job) });
  }
}

export async function insertFrames(tx: Tx, rows: readonly FlowFrame[]): Promise<void> {
  if (dialect === "postgres") {
    for (const some of splitIntoBatches(rows)) await tx.insert(flowFrames).values(some);
  } else for (const row of rows) await tx.exec(insertFrame, row);
}
