/** Puts back jobs whose worker is gone, so that an acknowledged job is never lost. Counted on the row, and bounded. */

import type { Service } from "../../../lib/async/start-stop.ts";
import type { App } from "../../../platform/app/context.ts";
import { createPeriodicTask } from "../../../platform/loops/periodic-task.ts";
import { putBack } from "../../../platform/queue/job-store.ts";
import { aboutJob } from "../../../platform/queue/log-fields.ts";
import type { Job } from "../../../platform/queue/tables.ts";
import { settleWithoutLock } from "../../code/flows/locks.ts";
import { type NewAlert, raiseAlertWith } from "../../signals/alerts/service.ts";
import { canceledResult } from "../job/canceled.ts";
import { storeEnd } from "./complete-job.ts";
import { type Ending, failure } from "./outcome.ts";

/** How often it is looked for lost workers, in a lease's time. */
const RUNS_A_LEASE = 2;
/** The part of a lease after which a server that starts looks first: a live worker says so twice in it. */
const BEFORE_FIRST_RUN = 1 / 3;

export interface Rescuer extends Service {
  /** Puts back what is lost by now. */
  rescue(): Promise<void>;
}

function timesLost({ attempts, begun, losses }: Job): number {
  return Math.max(attempts + (begun ? 1 : 0), losses + 1);
}

export function createRescuer(app: App): Rescuer {
  const lease_ms = app.config.lease_s * 1000;
  /**
   * In milliseconds of `performance.now()`. The database was not there a while ago: workers that could not tell of
   * themselves get the time to.
   */
  let waits_until = 0;

  async function rescue(): Promise<void> {
    // The data directory has one process: whatever is still running there ran in one that is gone.
    const isOnly = app.db.dialect === "sqlite";
    const before = isOnly ? undefined : new Date(app.clock().getTime() - lease_ms);
    const { requeued, canceled, exhausted } = await putBack(app.db, {
      ...(before ? { before } : {}),
    });
    for (const job of canceled) {
      const result = canceledResult(job.canceled_reason ?? "canceled", job.canceled_by ?? "the server");
      await end(job, { status: "canceled", result });
    }
    for (const job of exhausted) {
      const message = job.delete_after_use
        ? "the job lost its worker, and its arguments were kept nowhere else"
        : `the job lost its worker ${timesLost(job)} times and was given up`;
      const where = job.script_path ?? job.kind;
      await end(job, failure({ name: "WorkerLost", message }), {
        kind: "worker_lost",
        message: `job ${job.id} (${where}): ${message}`,
        workspace_id: job.workspace_id,
        subject: where,
      });
    }
    if (requeued.length === 0) return;
    app.log.warn({ jobs: requeued.length }, "jobs that lost their worker were put back in the queue");
    app.queue.wake();
  }

  /** One that cannot be ended must not keep the others, or a server that starts, from going on. */
  async function end(job: Job, ending: Ending, alert?: NewAlert): Promise<void> {
    try {
      await store(job, ending, alert);
    } catch (cause) {
      app.log.error(
        { ...aboutJob(job), error: String(cause) },
        "a job that lost its worker could not be ended",
      );
    }
  }

  async function store(job: Job, ending: Ending, alert: NewAlert | undefined): Promise<void> {
    const row = await storeEnd(app, job, ending, {
      worker: job.worker ?? "",
      isolation: null,
      traceless: false,
      async also(tx) {
        await settleWithoutLock(app, tx, job, "the dependency job did not come to its end");
        if (alert) await raiseAlertWith(app, tx, alert);
      },
    });
    const { status, result } = ending;
    if (row) app.events.publishFinished({ id: job.id, workspace_id: job.workspace_id, status, result });
  }

  /** Looked for once, before anything else is begun, by a process that has its database for itself. */
  const task = createPeriodicTask(app, {
    failure: "lost jobs could not be looked for",
    ...(app.db.dialect === "sqlite"
      ? { starts_with_run: true }
      : // The database may have been away for all: those who live tell so a few times before the first run.
        { first_ms: lease_ms * BEFORE_FIRST_RUN, interval_ms: lease_ms / RUNS_A_LEASE }),
    async run() {
      if (performance.now() < waits_until) return;
      try {
        await rescue();
      } catch (cause) {
        waits_until = performance.now() + lease_ms;
        throw cause;
      }
    },
  });
  return { start: task.start, stop: task.stop, rescue };
}
