/** Requeues jobs of lost workers, so that no acknowledged job is lost. Losses are counted on the row, and limited. */

import type { Service } from "../../../lib/async/service.ts";
import type { App } from "../../../platform/app/context.ts";
import { createPeriodicTask } from "../../../platform/loops/periodic-task.ts";
import { requeueLostJobs } from "../../../platform/queue/job-store.ts";
import { getLogFields } from "../../../platform/queue/log-fields.ts";
import type { Job } from "../../../platform/queue/tables.ts";
import { failLocking } from "../../code/flows/locks.ts";
import { type NewAlert, raiseAlertInTransaction } from "../../signals/alerts/service.ts";
import { createCanceledResult } from "../job/canceled.ts";
import { completeJob } from "./complete-job.ts";
import { createFailure, type JobOutcome } from "./outcome.ts";

/** Scans for lost workers in one lease. */
const SCANS_PER_LEASE = 2;
/**
 * Fraction of a lease after which a starting server runs its first scan. A live worker sends two heartbeats in that
 * time.
 */
const FIRST_SCAN_LEASE_FRACTION = 1 / 3;

export interface Rescuer extends Service {
  /** Requeues the jobs that are lost by now. */
  rescue(): Promise<void>;
}

function countLosses({ attempts, begun, losses }: Job): number {
  return Math.max(attempts + (begun ? 1 : 0), losses + 1);
}

export function createRescuer(app: App): Rescuer {
  const lease_ms = app.config.lease_s * 1000;
  /**
   * No scan before this time, in milliseconds of `performance.now()`. After a database outage, live workers get one
   * lease to send a heartbeat.
   */
  let waits_until = 0;

  async function rescue(): Promise<void> {
    // On SQLite the data directory has one process: any job still running belongs to an earlier one.
    const isOnly = app.db.dialect === "sqlite";
    const before = isOnly ? undefined : new Date(app.clock().getTime() - lease_ms);
    const { requeued, canceled, exhausted } = await requeueLostJobs(app.db, {
      ...(before ? { before } : {}),
    });
    for (const job of canceled) {
      const result = createCanceledResult(job.canceled_reason ?? "canceled", job.canceled_by ?? "the server");
      await end(job, { status: "canceled", result });
    }
    for (const job of exhausted) {
      const message = job.delete_after_use
        ? "the job lost its worker, and its arguments were not stored"
        : `the job lost its worker ${countLosses(job)} times and was given up`;
      const where = job.script_path ?? job.kind;
      await end(job, createFailure({ name: "WorkerLost", message }), {
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

  /**
   * Completes a lost job. An error is logged only, so that it stops neither the other jobs nor the start of the server.
   */
  async function end(job: Job, ending: JobOutcome, alert?: NewAlert): Promise<void> {
    try {
      await store(job, ending, alert);
    } catch (cause) {
      app.log.error(
        { ...getLogFields(job), error: String(cause) },
        "a job that lost its worker could not be completed",
      );
    }
  }

  async function store(job: Job, ending: JobOutcome, alert: NewAlert | undefined): Promise<void> {
    const row = await completeJob(app, job, ending, {
      worker: job.worker ?? "",
      isolation: null,
      traceless: false,
      async also(tx) {
        await failLocking(app, tx, job, "the dependency job did not come to its end");
        if (alert) await raiseAlertInTransaction(app, tx, alert);
      },
    });
    const { status, result } = ending;
    if (row) app.events.publishFinished({ id: job.id, workspace_id: job.workspace_id, status, result });
  }

  /** On SQLite it runs once, before anything else starts. */
  const task = createPeriodicTask(app, {
    failure_message: "lost jobs could not be searched for",
    ...(app.db.dialect === "sqlite"
      ? { runs_on_start: true }
      : // After a database outage, live workers send some heartbeats before the first scan.
        { first_delay_ms: lease_ms * FIRST_SCAN_LEASE_FRACTION, interval_ms: lease_ms / SCANS_PER_LEASE }),
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
