/** Waits for the completion of a job that another process runs. */

import type { JobRecord } from "../../src/features/runs/job/records.ts";
import { TOO_BIG_PLACEHOLDER } from "../../src/features/runs/job/too-big.ts";
import { getCompletedJobResult, getJobById } from "../client/operations/runs.ts";
import type { ServiceClient } from "../client/transport.ts";
import { withInterrupt } from "../terminal/interrupt.ts";
import { startLiveDisplay } from "../terminal/live.ts";
import { CliError, EXIT_CODES } from "../terminal/text/failure.ts";
import { printNote } from "../terminal/text/output.ts";
import { followJob, type JobRef } from "./follow.ts";
import { getJobState } from "./summary.ts";

/** Reads the job's record without its log, but with its whole result, which records omit if it is large. */
export async function readJob(client: ServiceClient, job: JobRef): Promise<JobRecord> {
  const record = await client.call(getJobById, { ...job, query: { no_logs: true } });
  if (record.type !== "CompletedJob" || record.result !== TOO_BIG_PLACEHOLDER) return record;
  const response = await client.open(getCompletedJobResult, job as never);
  return { ...record, result: await response.json() };
}

/** Printed before the output of a restarted job. */
export const RESTART_NOTE = "the job lost its worker, and starts again";

/**
 * Follows a job to its completion. Ctrl-C stops following, not the job.
 * @param output where its log is shown, if at all; the header is shown on a terminal only
 * @throws CliError if no server is running that could run it
 */
export async function waitForCompletion(
  client: ServiceClient,
  job: JobRef,
  output?: NodeJS.WriteStream,
): Promise<JobRecord> {
  const now = await readJob(client, job);
  if (client.local && now.type !== "CompletedJob") throw createNoWorkerError(now);
  const live = startLiveDisplay(output);
  const leave = () => {
    live.stop();
    printNote(`no longer following: job ${job.id} is still running`);
    process.exit(EXIT_CODES.interrupted);
  };
  const again = () => printNote(RESTART_NOTE);
  const watcher = { state: live.state, log: live.log, header: output?.isTTY === true, again };
  try {
    await withInterrupt(leave, () => followJob(client, job, watcher));
  } finally {
    live.stop();
  }
  return readJob(client, job);
}

function createNoWorkerError(job: JobRecord): CliError {
  return new CliError("NoServer", `job ${job.id} is ${getJobState(job)}, and no server is up that runs it`, {
    hint: "start one: svc serve",
  });
}
