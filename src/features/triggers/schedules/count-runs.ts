/** Counts consecutive outcomes of a schedule's runs, for its own handlers. */
import { and, eq } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import type { EndedJob } from "../../../platform/app/job-ends.ts";
import type { JobStatus } from "../../../platform/queue/states.ts";
import { schedules } from "./tables.ts";

/** A schedule's handler to start. */
export interface DueHandler {
  occasion: "failure" | "recovery" | "success";
  /** Number of consecutive failures, or of consecutive successes since the last failure. */
  times?: number;
  /** The failed run from which the schedule has recovered. */
  failed_job?: string;
}

/**
 * Counts a run of a schedule. The schedule's row is locked until the commit, so that of runs that complete at the
 * same time each sees the others' counts. Canceled runs count as neither failure nor success.
 * @returns which of the schedule's handlers to start; none for jobs that no schedule started
 */
export async function countRun(
  tx: Tx,
  { id, workspace_id, schedule_path }: EndedJob,
  status: JobStatus,
): Promise<DueHandler[]> {
  if (schedule_path === null || status === "canceled") return [];
  await tx.lock(`runs of schedule ${workspace_id} ${schedule_path}`);
  const its = and(eq(schedules.workspace_id, workspace_id), eq(schedules.path, schedule_path));
  const [schedule] = await tx.select().from(schedules).where(its);
  if (!schedule) return [];
  const { on_failure, on_failure_times, on_failure_exact, on_recovery, on_recovery_times, on_success } =
    schedule;
  if (status === "failure") {
    const failed_times = schedule.failed_times + 1;
    await tx.update(schedules).set({ failed_times, failed_job: id, recovered_times: 0 }).where(its);
    const wanted = on_failure_times ?? 1;
    const isDue = on_failure_exact ? failed_times === wanted : failed_times >= wanted;
    return on_failure && isDue ? [{ occasion: "failure", times: failed_times }] : [];
  }
  const due: DueHandler[] = on_success ? [{ occasion: "success" }] : [];
  const { failed_job } = schedule;
  if (failed_job === null) return due;
  const recovered_times = schedule.recovered_times + 1;
  const isOver = recovered_times >= (on_recovery_times ?? 1);
  await tx
    .update(schedules)
    .set(
      isOver
        ? { failed_times: 0, failed_job: null, recovered_times: 0 }
        : { failed_times: 0, recovered_times },
    )
    .where(its);
  if (isOver && on_recovery) due.push({ occasion: "recovery", times: recovered_times, failed_job });
  return due;
}
