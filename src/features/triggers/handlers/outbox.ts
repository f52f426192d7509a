/**
 * The outbox of handlers: in the transaction that stores a job's end, a row says that somebody is to be told of it. So
 * no failure is forgotten, whatever becomes of the server, and none is told twice. A good end of a job that no schedule
 * has started costs nothing.
 */
import { and, eq } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import { perApp } from "../../../lib/async/per-app.ts";
import type { App } from "../../../platform/app/context.ts";
import type { JobStatus } from "../../../platform/queue/states.ts";
import type { Job } from "../../../platform/queue/tables.ts";
import { hasNoErrorHandler } from "../../tenancy/workspaces/error-handler-cache.ts";
import { schedules } from "../schedules/tables.ts";
import { type HandlerCall, handlerCalls, type Occasion } from "./tables.ts";

/** Called when a handler may have to be started; set by the role that does so, where there is one. */
export const handlersOf = perApp<App, { wake(): void }>(() => ({ wake: () => {} }));

/** What a job that is a handler was set off by. */
export const HANDLER_TRIGGER = "error_handler";

type Ended = Pick<
  Job,
  "id" | "workspace_id" | "kind" | "flow_step_id" | "parent_job" | "trigger_kind" | "schedule_path"
>;

/** Deployed scripts and flows; what a schedule runs may be a flow made for it, which tries the script again. */
function isTold({ kind, schedule_path }: Ended): boolean {
  return kind === "script" || kind === "flow" || (kind === "flowpreview" && schedule_path !== null);
}

/** Adds to what stores a job's end that handlers are told of it. */
export function withHandlers(
  app: App,
  job: Ended,
  status: JobStatus,
  work: (tx: Tx) => Promise<boolean>,
): (tx: Tx) => Promise<boolean> {
  if (!concerns(job, status)) return work;
  return async (tx) => {
    if (!(await work(tx))) return false;
    await noteEnd(app, tx, job, status);
    return true;
  };
}

function concerns(job: Ended, status: JobStatus): boolean {
  if (job.flow_step_id !== null) return false;
  if (status === "success" || status === "skipped") return job.schedule_path !== null;
  return isTold(job);
}

/** Stores who is to be told of an end that is being stored: nothing, for most ends. */
export async function noteEnd(app: App, tx: Tx, job: Ended, status: JobStatus): Promise<void> {
  if (!concerns(job, status)) return;
  if (job.trigger_kind === HANDLER_TRIGGER) {
    if (status === "failure") await insert(app, tx, job, "handler");
    return;
  }
  if (job.parent_job !== null) return;
  const isBad = status === "failure" || status === "canceled";
  if (isBad && !hasNoErrorHandler(app, job.workspace_id)) await insert(app, tx, job, "workspace");
  if (status === "failure" && app.config.instance_error_handler) await insert(app, tx, job, "instance");
  if (job.schedule_path !== null && status !== "canceled") await count(app, tx, job, status);
}

/**
 * Counts a run of a schedule. The row of the schedule is held from here to the commit, so that of runs that end at the
 * same time each sees what the others have counted. A run that was canceled has neither failed nor succeeded.
 */
async function count(app: App, tx: Tx, job: Ended, status: JobStatus): Promise<void> {
  const { workspace_id, schedule_path } = job;
  await tx.lock(`runs of schedule ${workspace_id} ${schedule_path}`);
  const its = and(eq(schedules.workspace_id, workspace_id), eq(schedules.path, schedule_path!));
  const [schedule] = await tx.select().from(schedules).where(its);
  if (!schedule) return;
  const { on_failure, on_failure_times, on_failure_exact, on_recovery, on_recovery_times, on_success } =
    schedule;
  if (status === "failure") {
    const failed_times = schedule.failed_times + 1;
    await tx.update(schedules).set({ failed_times, failed_job: job.id, recovered_times: 0 }).where(its);
    const wanted = on_failure_times ?? 1;
    const isDue = on_failure_exact ? failed_times === wanted : failed_times >= wanted;
    if (on_failure && isDue) await insert(app, tx, job, "failure", { times: failed_times });
    return;
  }
  if (on_success) await insert(app, tx, job, "success");
  const { failed_job } = schedule;
  if (failed_job === null) return;
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
  if (isOver && on_recovery) {
    await insert(app, tx, job, "recovery", { times: recovered_times, failed_job });
  }
}

async function insert(
  app: App,
  tx: Tx,
  { id, workspace_id, schedule_path }: Ended,
  occasion: Occasion,
  more: Partial<Pick<HandlerCall, "times" | "failed_job">> = {},
): Promise<void> {
  const now = app.clock();
  const row = {
    job_id: id,
    occasion,
    workspace_id,
    schedule_path,
    created_at: now,
    next_at: now,
    attempts: 0,
  };
  await tx
    .insert(handlerCalls)
    .values({ ...row, ...more })
    .onConflictDoNothing();
  tx.afterCommit(handlersOf(app).wake);
}
