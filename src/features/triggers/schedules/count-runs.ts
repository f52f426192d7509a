/** How the runs of a schedule have ended, one after the other: what its own handlers are told of. */
import { and, eq } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import type { EndedJob } from "../../../platform/app/job-ends.ts";
import type { JobStatus } from "../../../platform/queue/states.ts";
import { schedules } from "./tables.ts";

/** A handler of a schedule that is to be started. */
export interface DueHandler {
  occasion: "failure" | "recovery" | "success";
  /** How many runs in a row have failed, or have come to a good end since one did. */
  times?: number;
  /** The run whose failure the schedule has recovered from. */
  failed_job?: string;
}

/**
 * Counts a run of a schedule. The row of the schedule is held from here to the commit, so that of runs that end at the
 * same time each sees what the others have counted. A run that was canceled has neither failed nor succeeded.
 * @returns which of the schedule's handlers are to be started: none, of a job that no schedule has started
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
