/**
 * The outbox of handlers: in the transaction that stores a job's end, a row says that somebody is to be told of it. So
 * no failure is forgotten, whatever becomes of the server, and none is told twice. A good end of a job that no schedule
 * has started costs nothing.
 */
import type { Tx } from "../../../database/database.ts";
import { perApp } from "../../../lib/async/per-app.ts";
import type { App } from "../../../platform/app/context.ts";
import type { EndedJob, JobEndListener } from "../../../platform/app/job-ends.ts";
import type { JobStatus } from "../../../platform/queue/states.ts";
import { hasNoErrorHandler } from "../../tenancy/workspaces/error-handler-cache.ts";
import { countRun } from "../schedules/count-runs.ts";
import { type HandlerCall, handlerCalls, type Occasion } from "./tables.ts";

/** Called when a handler may have to be started; set by the role that does so, where there is one. */
export const handlersOf = perApp<App, { wake(): void }>(() => ({ wake: () => {} }));

/** What a job that is a handler was set off by. */
export const HANDLER_TRIGGER = "error_handler";

/** Deployed scripts and flows; what a schedule runs may be a flow made for it, which tries the script again. */
function isTold({ kind, schedule_path }: EndedJob): boolean {
  return kind === "script" || kind === "flow" || (kind === "flowpreview" && schedule_path !== null);
}

function concerns(job: EndedJob, status: JobStatus): boolean {
  if (job.flow_step_id !== null) return false;
  if (status === "success" || status === "skipped") return job.schedule_path !== null;
  return isTold(job);
}

/** Who is to be told of an end is stored with it: nobody, for most ends. */
export const noteHandlers: JobEndListener = (app, job, status) =>
  concerns(job, status) ? (tx) => store(app, tx, job, status) : undefined;

async function store(app: App, tx: Tx, job: EndedJob, status: JobStatus): Promise<void> {
  if (job.trigger_kind === HANDLER_TRIGGER) {
    if (status === "failure") await insert(app, tx, job, "handler");
    return;
  }
  if (job.parent_job !== null) return;
  const isBad = status === "failure" || status === "canceled";
  if (isBad && !hasNoErrorHandler(app, job.workspace_id)) await insert(app, tx, job, "workspace");
  if (status === "failure" && app.config.instance_error_handler) await insert(app, tx, job, "instance");
  for (const { occasion, ...facts } of await countRun(tx, job, status)) {
    await insert(app, tx, job, occasion, facts);
  }
}

async function insert(
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
  tx.afterCommit(handlersOf(app).wake);
}
