/**
 * Transactional outbox of handlers: the transaction that completes a job inserts a row per handler to start. So each
 * end is handled exactly once, whatever happens to the server. Successful jobs cost nothing unless they have a schedule
 * or their workspace a success handler.
 *
 * Every completion calls `recordHandlerCalls` (as `on.jobEnded`): steps and scripts by `completeWithTransition`, queued
 * jobs when they are canceled. It also counts the runs of schedules. `handler-task.ts` then runs `start-handler.ts`,
 * which deletes the row in the transaction that inserts the handler's job. Jobs that the server starts for no user run
 * as a group (`submit-as-group.ts`).
 */
import type { Tx } from "../../../database/database.ts";
import { memoizePerApp } from "../../../lib/async/per-app.ts";
import type { App } from "../../../platform/app/context.ts";
import type { EndedJob, JobEndListener } from "../../../platform/app/job-ends.ts";
import { type JobKind, type JobStatus, RUN_KINDS } from "../../../platform/queue/states.ts";
import { hasHandler, hasNoHandler } from "../../tenancy/workspaces/handler-cache.ts";
import { readSettings } from "../../tenancy/workspaces/settings.ts";
import { countRun } from "../schedules/count-runs.ts";
import { type HandlerCall, handlerCalls, type Occasion } from "./tables.ts";

/** Wakes the task that starts handlers; a no-op where there is none. */
export const getHandlerTask = memoizePerApp<App, { wake(): void }>(() => ({ wake: () => {} }));

/** `trigger_kind` of a handler's job. */
export const HANDLER_TRIGGER = "error_handler";

const isGood = (status: JobStatus) => status === "success" || status === "skipped";

function canHaveHandlers(app: App, job: EndedJob, status: JobStatus): boolean {
  // The next run of a schedule was skipped; nothing has failed.
  if (job.state === "planned") return false;
  if (job.flow_step_id !== null) return false;
  if (isGood(status)) {
    if (job.schedule_path !== null) return true;
    if (hasNoHandler(app, job.workspace_id, "success_handler")) return false;
  }
  // Previews, and the modules of loops and branches, call no handlers.
  return (RUN_KINDS as readonly JobKind[]).includes(job.kind);
}

/** Returns the work that stores the handlers to start for a completed job; undefined if there are none, as for most. */
export const recordHandlerCalls: JobEndListener = (app, job, status) =>
  canHaveHandlers(app, job, status) ? (tx) => store(app, tx, job, status) : undefined;

async function store(app: App, tx: Tx, job: EndedJob, status: JobStatus): Promise<void> {
  if (job.trigger_kind === HANDLER_TRIGGER) {
    if (status === "failure") await insertCall(app, tx, job, "handler");
    return;
  }
  if (job.parent_job !== null) return;
  const isBad = status === "failure" || status === "canceled";
  if (isBad && !hasNoHandler(app, job.workspace_id, "error_handler"))
    await insertCall(app, tx, job, "workspace");
  if (isGood(status) && (await hasSuccessHandler(app, tx, job)))
    await insertCall(app, tx, job, "workspace_success");
  if (status === "failure" && app.config.instance_error_handler) await insertCall(app, tx, job, "instance");
  for (const { occasion, ...facts } of await countRun(tx, job, status)) {
    await insertCall(app, tx, job, occasion, facts);
  }
}

/** Reads the settings for the first job of a workspace only: most workspaces have no success handler. */
function hasSuccessHandler(app: App, tx: Tx, { workspace_id }: EndedJob): Promise<boolean> {
  return hasHandler(app, workspace_id, "success_handler", () => readSettings(tx, workspace_id));
}

async function insertCall(
  app: App,
  tx: Tx,
  { id, workspace_id, schedule_path }: EndedJob,
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
  tx.afterCommit(getHandlerTask(app).wake);
}
