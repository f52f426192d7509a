/** The statements of every transition, made once. */
import { and, eq, ne, sql } from "drizzle-orm";
import { statement, type Tx } from "../../../../database/database.ts";
import { dialect } from "../../../../database/kit.ts";
import type { FrameState } from "../../../../engines/flow-engine/state.ts";
import { insertJob } from "../../../../platform/queue/job-store.ts";
import type { JobStatus } from "../../../../platform/queue/states.ts";
import { type Job, jobs } from "../../../../platform/queue/tables.ts";
import { type FlowFrame, flowFrames } from "../../../code/flows/tables.ts";

const p = sql.placeholder;

/** Raises the version of a run, where it is still the one the plan starts from. */
export const claimVersion = statement<{ root_id: string; from: number }, { job_id: string }[]>((q) =>
  q
    .update(flowFrames)
    .set({ version: sql`${flowFrames.version} + 1` })
    .where(and(eq(flowFrames.job_id, p("root_id")), eq(flowFrames.version, p("from"))))
    .returning({ job_id: flowFrames.job_id }),
);

const insertFrame = statement<FlowFrame, unknown>((q) =>
  q.insert(flowFrames).values({
    job_id: p("job_id"),
    root_job: p("root_job"),
    state: p("state"),
    version: p("version"),
    wake_at: p("wake_at"),
  }),
);

export const leaveFrame = statement<{ job_id: string; state: FrameState; wake_at: Date | null }, unknown>(
  (q) =>
    q
      .update(flowFrames)
      .set({ state: p("state"), wake_at: p("wake_at") as never })
      .where(eq(flowFrames.job_id, p("job_id"))),
);

export const finishFrame = statement<
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
      status: p("status") as never,
      result: p("result") as never,
      labels: p("labels") as never,
      // Headers of a sender, which nobody reads any more, may hold its secrets.
      preprocessor_input: null,
      completed_at: p("completed_at") as never,
      duration_ms: p("duration_ms") as never,
    })
    .where(and(eq(jobs.id, p("id")), ne(jobs.state, "completed"))),
);

/** How many rows one statement inserts: few sizes, since PostgreSQL keeps each statement it has been sent. */
const ROWS_AT_ONCE = [64, 8, 1];

function* pieces<T>(rows: readonly T[]): Generator<T[]> {
  let at = 0;
  for (const size of ROWS_AT_ONCE) {
    for (; rows.length - at >= size; at += size) yield rows.slice(at, at + size);
  }
}

/** Stores jobs as submitted. To SQLite a statement is a call; to PostgreSQL it is a way there and back. */
export async function insertJobs(tx: Tx, rows: readonly Job[]): Promise<void> {
  if (dialect === "postgres") {
    for (const some of pieces(rows)) await tx.insert(jobs).values(some);
  } else for (const row of rows) await insertJob(tx, row);
}

/** Stores identities as they ended: their arguments are their results. */
export async function insertEnded(tx: Tx, rows: readonly Job[]): Promise<void> {
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
    await tx.exec(finishFrame, { id: job.id, ...ended(job) });
  }
}

export async function insertFrames(tx: Tx, rows: readonly FlowFrame[]): Promise<void> {
  if (dialect === "postgres") {
    for (const some of pieces(rows)) await tx.insert(flowFrames).values(some);
  } else for (const row of rows) await tx.exec(insertFrame, row);
}
