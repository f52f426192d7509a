/** How a job ended and what follows from it, in one transaction. */

import type { Tx } from "../../../database/database.ts";
import type { App } from "../../../platform/app/context.ts";
import { settlePlaces } from "../../../platform/queue/concurrency.ts";
import { type Finish, finishJob } from "../../../platform/queue/job-store.ts";
import type { Job } from "../../../platform/queue/tables.ts";
import { endJob } from "../flows/flow-events.ts";
import { labelsOf } from "../job/labels.ts";
import { queueSuccessor, successorOf } from "./next-run.ts";
import type { Ending } from "./outcome.ts";
import { ranMs } from "./run-time.ts";

interface Storing {
  /** Who is to hold the job still. */
  worker: string;
  /** In a line, what held around the process that ran it; null where none did. */
  isolation: string | null;
  /** The row says nothing of what the job was given and what came of it. */
  traceless: boolean;
  /** Stored together with it. */
  also: (tx: Tx) => Promise<void>;
}

/** @returns the row as it was stored; undefined when the worker no longer holds the job: then nothing is */
export async function storeEnd(
  app: App,
  job: Job,
  ending: Ending,
  { worker, isolation, traceless, also }: Storing,
): Promise<Finish | undefined> {
  const completed_at = app.clock();
  const { status, result } = ending;
  const row: Finish = {
    id: job.id,
    worker,
    status,
    result,
    completed_at,
    duration_ms: ranMs(job, completed_at),
    mem_peak_kb: ending.mem_peak_kb ?? null,
    isolation,
    preprocessed: ending.preprocessed_args === undefined ? null : true,
    args: ending.preprocessed_args ?? null,
    labels: labelsOf(result),
    canceled_by: null,
    canceled_reason: null,
  };
  const stored = traceless ? { ...row, result: "{}", args: null, labels: null } : row;
  const successor = status === "canceled" ? undefined : await successorOf(app, job, completed_at);
  const isStored = await endJob(app, job, { status, result }, async (tx) => {
    if (!(await finishJob(tx, stored))) return false;
    await also(tx);
    if (successor) await queueSuccessor(app, tx, job, successor);
    if (job.concurrency_key !== null) {
      await settlePlaces(tx, job, completed_at);
      tx.afterCommit(app.queue.wake);
    }
    return true;
  });
  return isStored ? stored : undefined;
}
