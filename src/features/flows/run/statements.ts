/** The statements of every transition, made once. */
import { and, eq, ne, sql } from "drizzle-orm";
import { statement } from "../../../database/database.ts";
import type { FrameState } from "../../../flow-engine/state.ts";
import type { JobStatus } from "../../../queue/states.ts";
import { jobs } from "../../../queue/tables.ts";
import { flowFrames } from "../tables.ts";

const p = sql.placeholder;

/** Raises the version of a run, where it is still the one the plan starts from. */
export const claimVersion = statement<{ root_id: string; from: number }, { job_id: string }[]>((q) =>
  q
    .update(flowFrames)
    .set({ version: sql`${flowFrames.version} + 1` })
    .where(and(eq(flowFrames.job_id, p("root_id")), eq(flowFrames.version, p("from"))))
    .returning({ job_id: flowFrames.job_id }),
);

export const insertFrame = statement<
  { job_id: string; root_job: string; state: FrameState; wake_at: Date | null },
  unknown
>((q) =>
  q.insert(flowFrames).values({
    job_id: p("job_id"),
    root_job: p("root_job"),
    state: p("state"),
    version: 0,
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
  { id: string; status: JobStatus; result: string; completed_at: Date; duration_ms: number },
  unknown
>((q) =>
  q
    .update(jobs)
    .set({
      state: "completed",
      status: p("status") as never,
      result: p("result") as never,
      // Headers of a sender, which nobody reads any more, may hold its secrets.
      preprocessor_input: null,
      completed_at: p("completed_at") as never,
      duration_ms: p("duration_ms") as never,
    })
    .where(and(eq(jobs.id, p("id")), ne(jobs.state, "completed"))),
);
