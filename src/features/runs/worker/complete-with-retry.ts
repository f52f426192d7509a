/** Completes a job, with retries while the database is unavailable. */

import { and, eq } from "drizzle-orm";
import { isTransient } from "../../../database/failure.ts";
import { continueWith } from "../../../lib/async/awaitable.ts";
import { computeBackoffMs } from "../../../lib/async/retry.ts";
import { sleep } from "../../../lib/async/sleep.ts";
import { parseJson } from "../../../lib/json/json.ts";
import type { App } from "../../../platform/app/context.ts";
import { OUTAGE_BACKOFF } from "../../../platform/loops/retry-on-outage.ts";
import type { JobCompletion } from "../../../platform/queue/job-store.ts";
import { getLogFields } from "../../../platform/queue/log-fields.ts";
import { type Job, jobLogs, jobs } from "../../../platform/queue/tables.ts";
import { failLocking } from "../../code/flows/locks.ts";
import { countJobUsage } from "../../tenancy/workspaces/usage.ts";
import { abbreviateIsolation } from "../job/isolation.ts";
import { completeJob } from "./complete-job.ts";
import type { OutputWriter } from "./job-output.ts";
import { createFailure, isDependencyJob, type JobOutcome } from "./outcome.ts";
import { formatSandboxSummary } from "./sandbox-summary.ts";

/** Replaces the log of a job with `delete_after_use`. */
const DELETED_LOG_TEXT = "##DELETED##";

/** After this many rejections by the database, the result itself is taken to be the cause. */
const MAX_REJECTIONS = 2;

/**
 * Stores the job's outcome, then publishes it. Transient database errors are retried forever with backoff; the result
 * stays in memory meanwhile. If the database rejects the data itself three times, the job is completed as failed. If
 * another worker holds the job by now, nothing is stored.
 */
export async function completeWithRetry(
  app: App,
  job: Job,
  ending: JobOutcome,
  output: OutputWriter,
): Promise<void> {
  for (let tries = 0, refused = 0; ; tries++) {
    try {
      const stored = await persistOutcome(app, job, ending, refused > MAX_REJECTIONS ? undefined : output);
      if (stored) countCompletion(app, job, stored);
      if (stored || (tries > refused && (await isOutcomeStored(app, job, ending)))) {
        const { status, result } = ending;
        app.events.publishFinished({ id: job.id, workspace_id: job.workspace_id, status, result });
      } else {
        app.log.warn(getLogFields(job), "a job completed here, but another worker holds it by now");
      }
      return;
    } catch (cause) {
      const again_in_ms = Math.round(computeBackoffMs(OUTAGE_BACKOFF, tries + 1));
      app.log.error(
        { ...getLogFields(job), error: String(cause), again_in_ms },
        "a job's end could not be stored yet",
      );
      if (!isTransient(cause) && refused++ === MAX_REJECTIONS) {
        ending = createFailure({
          name: "InternalErr",
          message: "the database refused to store the job's result",
        });
      }
      await sleep(again_in_ms);
    }
  }
}

/** Returns whether this worker's outcome was committed although the connection broke before the acknowledgement. */
async function isOutcomeStored(app: App, job: Job, { status }: JobOutcome): Promise<boolean> {
  const [row] = await app.db.read
    .select({ id: jobs.id })
    .from(jobs)
    .where(
      and(
        eq(jobs.id, job.id),
        eq(jobs.state, "completed"),
        eq(jobs.status, status),
        eq(jobs.worker, app.queue.worker),
      ),
    );
  return row !== undefined;
}

/** Stores the outcome of a job in one transaction. @returns undefined if this worker no longer holds the job */
function persistOutcome(
  app: App,
  job: Job,
  ending: JobOutcome,
  output: OutputWriter | undefined,
): Promise<JobCompletion | undefined> {
  return completeJob(app, job, ending, {
    worker: app.queue.worker,
    isolation: abbreviateIsolation(formatSandboxSummary(app, job)),
    traceless: job.delete_after_use,
    also: (tx) => {
      const storing = job.delete_after_use
        ? tx.insert(jobLogs).values({ job_id: job.id, seq: 0, content: DELETED_LOG_TEXT })
        : output?.store(tx);
      return continueWith<unknown, unknown>(storing, () => {
        if (ending.inTransaction) return ending.inTransaction(tx);
        return isDependencyJob(job) ? failLocking(app, tx, job, errorMessageIn(ending.result)) : undefined;
      });
    },
  });
}

function countCompletion(app: App, job: Job, row: JobCompletion): void {
  countJobUsage(app, job, row.duration_ms);
  app.meters.runTime.observe(row.duration_ms / 1000);
  if (app.log.isLevelEnabled("debug")) logCompletion(app, job, row);
}

/** Logs one debug line for each completed job, without its arguments and result. */
function logCompletion(app: App, job: Job, { status, duration_ms }: JobCompletion): void {
  const { workspace_id, kind, script_path, root_job } = job;
  const about = {
    ...getLogFields(job),
    ...(root_job === null ? {} : { root_job }),
    workspace: workspace_id,
  };
  const what = { kind, ...(script_path === null ? {} : { path: script_path }) };
  app.log.debug({ ...about, ...what, status, ms: duration_ms }, "a job ended");
}

function errorMessageIn(result: string): string {
  return (parseJson(result) as { error?: { message?: string } }).error?.message ?? result;
}
