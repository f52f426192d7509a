/** Storing how a job ended. */

import { and, eq } from "drizzle-orm";
import { isPassing } from "../../../database/failure.ts";
import { backoffMs } from "../../../lib/async/retry.ts";
import { sleep } from "../../../lib/async/sleep.ts";
import { parseJson } from "../../../lib/json/json.ts";
import type { App } from "../../../platform/app/context.ts";
import { OUTAGE_BACKOFF } from "../../../platform/loops/retry-on-outage.ts";
import type { Finish } from "../../../platform/queue/job-store.ts";
import { aboutJob } from "../../../platform/queue/log-fields.ts";
import { type Job, jobLogs, jobs } from "../../../platform/queue/tables.ts";
import { settleWithoutLock } from "../../code/flows/locks.ts";
import { countJob } from "../../tenancy/workspaces/usage.ts";
import { storeEnd } from "./complete-job.ts";
import type { Output } from "./job-output.ts";
import { type Ending, failure, isLockJob } from "./outcome.ts";
import { isolationOf } from "./sandbox-summary.ts";

/** The log of a job that leaves nothing behind. */
const DELETED = "##DELETED##";

/** How often an ending is tried as it is before it is thought to be what the database refuses. */
const MAX_WHOLE_TRIES = 2;

/**
 * Commits the ending, then tells of it. While the database cannot be used, or others are first, it is tried until it is
 * stored, with the result in memory; an ending that the database refuses for what it holds is stored as a failure that
 * says so. Who was given the job meanwhile keeps it: then nothing is stored.
 */
export async function finish(app: App, job: Job, ending: Ending, output: Output): Promise<void> {
  for (let tries = 0, refused = 0; ; tries++) {
    try {
      const stored = await store(app, job, ending, refused > MAX_WHOLE_TRIES ? undefined : output);
      if (stored || (tries > refused && (await isStored(app, job, ending)))) {
        const { status, result } = ending;
        app.events.publishFinished({ id: job.id, workspace_id: job.workspace_id, status, result });
      } else {
        app.log.warn(aboutJob(job), "a job ended here that another worker had been given");
        app.events.closeTail(job.id);
      }
      return;
    } catch (cause) {
      const again_in_ms = Math.round(backoffMs(OUTAGE_BACKOFF, tries + 1));
      app.log.error(
        { ...aboutJob(job), error: String(cause), again_in_ms },
        "a job's end could not be stored yet",
      );
      if (!isPassing(cause) && refused++ === MAX_WHOLE_TRIES) {
        ending = failure({ name: "InternalErr", message: "the database refused to store the job's result" });
      }
      await sleep(again_in_ms);
    }
  }
}

/** Whether this worker has stored the end, and the connection was lost before it heard so. */
async function isStored(app: App, job: Job, { status }: Ending): Promise<boolean> {
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

/** @returns false when this worker no longer holds the job */
async function store(app: App, job: Job, ending: Ending, output: Output | undefined): Promise<boolean> {
  const row = await storeEnd(app, job, ending, {
    worker: app.queue.worker,
    isolation: isolationOf(app, job),
    traceless: job.delete_after_use,
    async also(tx) {
      if (job.delete_after_use) await tx.insert(jobLogs).values({ job_id: job.id, seq: 0, content: DELETED });
      else await output?.store(tx);
      if (ending.also) await ending.also(tx);
      else if (isLockJob(job)) await settleWithoutLock(app, tx, job, errorText(ending.result));
    },
  });
  if (!row) return false;
  countJob(app, job, row.duration_ms);
  app.meters.runTime.observe(row.duration_ms / 1000);
  if (app.log.isLevelEnabled("debug")) logEnd(app, job, row);
  return true;
}

/** A line for each job that ends, where the log's level asks for it. What it was given and what came of it are not told. */
function logEnd(app: App, job: Job, { status, duration_ms }: Finish): void {
  const { workspace_id, kind, script_path, root_job } = job;
  const about = { ...aboutJob(job), ...(root_job === null ? {} : { root_job }), workspace: workspace_id };
  const what = { kind, ...(script_path === null ? {} : { path: script_path }) };
  app.log.debug({ ...about, ...what, status, ms: duration_ms }, "a job ended");
}

function errorText(result: string): string {
  return (parseJson(result) as { error?: { message?: string } }).error?.message ?? result;
}
