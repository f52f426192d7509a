/** Job updates since the caller's last request: JobUpdate, the response of getupdate. */

import { sleep } from "../../../lib/async/sleep.ts";
import { parseJson } from "../../../lib/json/json.ts";
import * as z from "../../../lib/zod/z.ts";
import type { App, Context } from "../../../platform/app/context.ts";
import type { JobTail } from "../../../platform/events/job-tail.ts";
import type { Job } from "../../../platform/queue/tables.ts";
import { readLogFrom, readOutput } from "../job/logs.ts";
import { JobRecord } from "../job/records.ts";
import { getJob } from "../submit/find-and-cancel.ts";
import { getJobAudited } from "./view-audit.ts";

export const JobUpdate = z.object({
  running: z.boolean().optional(),
  completed: z.boolean().optional(),
  new_logs: z.string().optional(),
  log_offset: z.number().optional(),
  new_result_stream: z.string().optional(),
  stream_offset: z.number().optional(),
  mem_peak: z.number().optional(),
  progress: z.number().optional(),
  only_result: z.unknown().optional(),
  job: JobRecord.optional(),
});
export type JobUpdate = z.input<typeof JobUpdate>;

/** The state that the caller knows already. Offsets count UTF-16 code units, as characters of JSON text do. */
export interface SeenState {
  running: boolean | undefined;
  log_offset: number;
  stream_offset: number;
  no_logs: boolean;
  only_result: boolean;
  get_progress: boolean;
}

/**
 * How long an empty response is delayed in case of new data: some clients poll in a loop without pauses until the job
 * has ended.
 */
const MAX_WAIT_MS = 250;

/** Returns the difference between the caller's state and the job. */
export async function readJobUpdate(
  ctx: Context,
  workspace_id: string,
  id: string,
  seen: SeenState,
): Promise<JobUpdate> {
  const change = watchNextChange(ctx.app, id.toLowerCase());
  try {
    const first = await diffJob(ctx.app, await getJobAudited(ctx, workspace_id, id), seen);
    if (hasNews(first)) return first;
    await change.within(MAX_WAIT_MS);
    return await diffJob(ctx.app, await getJob(ctx, workspace_id, id), seen);
  } finally {
    change.stop();
  }
}

async function diffJob(app: App, job: Job, seen: SeenState): Promise<JobUpdate> {
  const log = seen.no_logs ? "" : await readLogFrom(app, job, seen.log_offset);
  const stream = await readOutput(app, "stream", job.id, seen.stream_offset);
  const running = job.state === "running";
  const update: JobUpdate = {};
  if (running !== seen.running) update.running = running;
  if (log !== "") update.new_logs = log;
  if (!seen.no_logs) update.log_offset = seen.log_offset + log.length;
  if (stream !== "") update.new_result_stream = stream;
  if (seen.stream_offset + stream.length > 0) update.stream_offset = seen.stream_offset + stream.length;
  if (job.mem_peak_kb !== null) update.mem_peak = job.mem_peak_kb;
  if (seen.get_progress && job.progress !== null) update.progress = job.progress;
  if (job.state !== "completed") return update;
  update.completed = true;
  if (seen.only_result) update.only_result = parseJson(job.result ?? "null");
  return update;
}

function hasNews({ running, completed, new_logs, new_result_stream }: JobUpdate): boolean {
  return (
    completed === true || running !== undefined || new_logs !== undefined || new_result_stream !== undefined
  );
}

/** Starts to listen for output, start or completion of the job. */
function watchNextChange(app: App, job_id: string) {
  const changed = new AbortController();
  const wake = () => changed.abort();
  const stops = [app.events.onChange(job_id, wake), app.events.onFinished(job_id, wake)];
  return {
    within: (ms: number) => sleep(ms, changed.signal),
    stop() {
      wake();
      for (const stop of stops) stop();
    },
  };
}

/**
 * Returns the ends of log and stream if they are before the follower's offsets. A job that lost its worker starts its
 * output again, and a follower that reconnects learns it from this.
 */
export function findShrunkOffsets(
  { log, stream }: JobTail,
  { log_offset, stream_offset }: SeenState,
): Partial<JobUpdate> {
  return {
    ...(log.end < log_offset ? { log_offset: log.end } : {}),
    ...(stream.end < stream_offset ? { stream_offset: stream.end } : {}),
  };
}
