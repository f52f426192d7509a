/** Completes a job in one transaction: its row, the next step of its flow, its next run, and blocked jobs. */

import type { Tx } from "../../../database/database.ts";
import { type Awaitable, continueWith } from "../../../lib/async/awaitable.ts";
import type { App } from "../../../platform/app/context.ts";
import { rescheduleBlockedJobs } from "../../../platform/queue/concurrency.ts";
import { type JobCompletion, storeCompletion } from "../../../platform/queue/job-store.ts";
import type { Job } from "../../../platform/queue/tables.ts";
import { completeWithTransition } from "../flows/flow-events.ts";
import { parseLabels } from "../job/labels.ts";
import { enqueueNextRun, findNextRun } from "./next-run.ts";
import type { JobOutcome } from "./outcome.ts";
import { measureDurationMs } from "./run-time.ts";

interface CompleteJobOptions {
  /** Worker that must still hold the job. */
  worker: string;
  /** One-line summary of the sandbox around its process; null where there was none. */
  isolation: string | null;
  /** Stores neither arguments nor result in the row. */
  traceless: boolean;
  /** Runs in the same transaction. */
  also: (tx: Tx) => Awaitable<unknown>;
}

/**
 * Stores the outcome of a job. @returns the stored row; undefined if `worker` no longer holds the job: then nothing is
 * stored
 */
export async function completeJob(
  app: App,
  job: Job,
  ending: JobOutcome,
  { worker, isolation, traceless, also }: CompleteJobOptions,
): Promise<JobCompletion | undefined> {
  const completed_at = app.clock();
  const { status, result } = ending;
  const row: JobCompletion = {
    id: job.id,
    worker,
    status,
    result,
    completed_at,
    duration_ms: measureDurationMs(job, completed_at),
    mem_peak_kb: ending.mem_peak_kb ?? null,
    isolation,
    preprocessed: ending.preprocessed_args === undefined ? null : true,
    args: ending.preprocessed_args ?? null,
    labels: parseLabels(result),
    canceled_by: null,
    canceled_reason: null,
  };
  const stored = traceless ? { ...row, result: "{}", args: null, labels: null } : row;
  const finding = status === "canceled" ? undefined : findNextRun(app, job, completed_at);
  const successor = finding && (await finding);
  const hasConsequences = successor !== undefined || job.concurrency_key !== null;
  const storeConsequences = async (tx: Tx): Promise<boolean> => {
    if (successor) await enqueueNextRun(app, tx, job, successor);
    if (job.concurrency_key !== null) {
      await rescheduleBlockedJobs(tx, job, completed_at);
      tx.afterCommit(app.queue.wake);
    }
    return true;
  };
  const isStored = await completeWithTransition(app, job, { status, result }, (tx) =>
    continueWith(
      storeCompletion(tx, stored),
      (isHeld) => isHeld && continueWith(also(tx), () => (hasConsequences ? storeConsequences(tx) : true)),
    ),
  );
  return isStored ? stored : undefined;
}
