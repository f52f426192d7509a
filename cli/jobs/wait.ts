/** Waiting for the end of a job that is somebody else's to run. */
import { getCompletedJobResult } from "../../src/features/runs/api/read/completed-operations.ts";
import { getJobById } from "../../src/features/runs/api/read/operations.ts";
import { type JobRecord, TOO_BIG } from "../../src/features/runs/job/records.ts";
import type { Client } from "../client/transport.ts";
import { withInterrupt } from "../terminal/interrupt.ts";
import { openLive } from "../terminal/live.ts";
import { CliError, EXIT } from "../terminal/text/failure.ts";
import { note } from "../terminal/text/output.ts";
import { followJob, type JobRef } from "./follow.ts";
import { stateOf } from "./summary.ts";

/** The job's record, without its log; with its whole result, which the server leaves out of records when it is large. */
export async function readJob(client: Client, job: JobRef): Promise<JobRecord> {
  const record = await client.call(getJobById, { ...job, query: { no_logs: true } });
  if (record.type !== "CompletedJob" || record.result !== TOO_BIG) return record;
  const response = await client.open(getCompletedJobResult, job as never);
  return { ...record, result: await response.json() };
}

/** Said before a job's output is printed from its beginning for a second time. */
export const ANEW = "the job lost its worker, and starts again";

/**
 * Follows a job to its end; Ctrl-C ends the following, not the job.
 * @param output where its log is shown, if it is: a person sees the lines at its head too, a pipe gets what it says
 * @throws CliError when no server is up that would run it
 */
export async function untilEnded(
  client: Client,
  job: JobRef,
  output?: NodeJS.WriteStream,
): Promise<JobRecord> {
  const now = await readJob(client, job);
  if (client.local && now.type !== "CompletedJob") throw nobodyRuns(now);
  const live = openLive(output);
  const leave = () => {
    live.stop();
    note(`no longer following: job ${job.id} is still running`);
    process.exit(EXIT.interrupted);
  };
  const again = () => note(ANEW);
  const watcher = { state: live.state, log: live.log, header: output?.isTTY === true, again };
  try {
    await withInterrupt(leave, () => followJob(client, job, watcher));
  } finally {
    live.stop();
  }
  return readJob(client, job);
}

function nobodyRuns(job: JobRecord): CliError {
  return new CliError("NoServer", `job ${job.id} is ${stateOf(job)}, and no server is up that runs it`, {
    hint: "start one: svc serve",
  });
}
