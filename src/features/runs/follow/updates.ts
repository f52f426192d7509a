/** What is new of a job since the caller last asked: JobUpdate, the answer of getupdate. */

import { z } from "zod";
import { parseJson } from "../../../lib/json/json.ts";
import type { App, Context } from "../../../platform/app/context.ts";
import type { JobTail } from "../../../platform/events/tail.ts";
import type { Job } from "../../../platform/queue/tables.ts";
import { readFrom, readLogFrom } from "../job/logs.ts";
import { JobRecord } from "../job/records.ts";
import { getJob } from "../submit/service.ts";
import { viewJob } from "./view-audit.ts";

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

/** What the caller has already; offsets count UTF-16 units, as characters of JSON text do. */
export interface Seen {
  running: boolean | undefined;
  log_offset: number;
  stream_offset: number;
  no_logs: boolean;
  only_result: boolean;
  get_progress: boolean;
}

/**
 * How long an answer that would say nothing waits for something to say: some clients ask again at once, in a loop, until
 * the job has ended.
 */
const WAIT_MS = 250;

/** The difference between what the caller has seen and what there is. */
export async function jobUpdate(
  ctx: Context,
  workspace_id: string,
  id: string,
  seen: Seen,
): Promise<JobUpdate> {
  const change = nextChange(ctx.app, id.toLowerCase());
  try {
    const first = await compare(ctx.app, await viewJob(ctx, workspace_id, id), seen);
    if (saysSomething(first)) return first;
    await change.within(WAIT_MS);
    return await compare(ctx.app, await getJob(ctx, workspace_id, id), seen);
  } finally {
    change.stop();
  }
}

async function compare(app: App, job: Job, seen: Seen): Promise<JobUpdate> {
  const log = seen.no_logs ? "" : await readLogFrom(app, job, seen.log_offset);
  const stream = await readFrom(app, "stream", job.id, seen.stream_offset);
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

function saysSomething({ running, completed, new_logs, new_result_stream }: JobUpdate): boolean {
  return (
    completed === true || running !== undefined || new_logs !== undefined || new_result_stream !== undefined
  );
}

/** Listens from now on for the job to say something, to begin or to end. */
function nextChange(app: App, job_id: string) {
  let wake!: () => void;
  const changed = new Promise<void>((resolve) => {
    wake = resolve;
  });
  const stops = [app.events.onChange(job_id, wake), app.events.onFinished(job_id, wake)];
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    within(ms: number): Promise<void> {
      timer = setTimeout(wake, ms);
      return changed;
    },
    stop() {
      clearTimeout(timer);
      for (const stop of stops) stop();
    },
  };
}

/**
 * Where the log and the stream end that are shorter than what the follower has: a job that lost its worker begins anew,
 * and a follower who was cut off meanwhile knows it by this. Nothing is told twice to who asks for what is yet to come.
 */
export function shorterThan(
  { log, stream }: JobTail,
  { log_offset, stream_offset }: Seen,
): Partial<JobUpdate> {
  return {
    ...(log.end < log_offset ? { log_offset: log.end } : {}),
    ...(stream.end < stream_offset ? { stream_offset: stream.end } : {}),
  };
}
