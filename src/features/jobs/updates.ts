/** What is new of a job since the caller last asked: JobUpdate of getupdate, and the same as a stream of events. */
import { z } from "zod";
import type { App } from "../../context.ts";
import type { JobTail } from "../../events/tail.ts";
import type { Job } from "../../queue/tables.ts";
import { readLog, readStream } from "./logs.ts";
import { JobRecord, toRecord } from "./records.ts";
import { findJob } from "./service.ts";

export const JobUpdate = z.object({
  running: z.boolean().optional(),
  completed: z.boolean().optional(),
  new_logs: z.string().optional(),
  log_offset: z.number().optional(),
  new_result_stream: z.string().optional(),
  stream_offset: z.number().optional(),
  mem_peak: z.number().optional(),
  only_result: z.unknown().optional(),
  job: JobRecord.optional(),
});
export type JobUpdate = z.input<typeof JobUpdate>;

/** What the caller has already; offsets count characters. */
export interface Seen {
  running: boolean | undefined;
  log_offset: number;
  stream_offset: number;
  no_logs: boolean;
  only_result: boolean;
}

/** The difference between what the caller has seen and what there is. */
export async function jobUpdate(app: App, job: Job, seen: Seen): Promise<JobUpdate> {
  const log = seen.no_logs ? "" : await readLog(app, job.id);
  const stream = await readStream(app, job.id);
  const running = job.state === "running";
  const completed = job.state === "completed";
  const update: JobUpdate = {};
  if (running !== (seen.running ?? false) || seen.running === undefined) update.running = running;
  if (completed) update.completed = true;
  if (log.length > seen.log_offset) update.new_logs = log.slice(seen.log_offset);
  if (!seen.no_logs) update.log_offset = log.length;
  if (stream.length > seen.stream_offset) {
    update.new_result_stream = stream.slice(seen.stream_offset);
    update.stream_offset = stream.length;
  }
  if (job.mem_peak_kb !== null) update.mem_peak = job.mem_peak_kb;
  if (completed && seen.only_result) update.only_result = JSON.parse(job.result ?? "null");
  return update;
}

/** A stream of events says when to come back: the client reconnects with its last offsets. */
const STREAM_LIMIT_MS = 30_000;
const PING_MS = 5_000;

export interface StreamOptions {
  seen: Seen;
  /** End with a `timeout` event after half a minute, as getupdate_sse does; run_and_stream goes on to the end. */
  limited: boolean;
}

/**
 * Server-sent events (WHATWG HTML §9.2) of a job, to its completion. Nothing is buffered for a slow reader: each pull
 * takes what there is since the last one.
 */
export function updateStream(
  app: App,
  workspace_id: string,
  job_id: string,
  options: StreamOptions,
): Response {
  const encoder = new TextEncoder();
  const seen = { ...options.seen };
  const opened = Date.now();
  const changes = watch(app, job_id);
  let first = true;

  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const send = (event: Record<string, unknown>) =>
        controller.enqueue(encoder.encode(`data: ${JSON.stringify(event)}\n\n`));
      const finish = (event: Record<string, unknown>) => {
        send(event);
        changes.stop();
        controller.close();
      };
      for (;;) {
        const left = options.limited ? opened + STREAM_LIMIT_MS - Date.now() : PING_MS;
        if (left <= 0) return finish({ type: "timeout" });
        const changed = first || (await changes.next(Math.min(PING_MS, left)));
        if (!changed) {
          if (left > PING_MS || !options.limited) return send({ type: "ping" });
          continue;
        }
        const tail = app.events.tail(job_id);
        // While the job runs here, its tail knows everything new: no query for a chunk.
        if (tail && seen.running && !first) {
          const update = tailUpdate(tail, seen);
          if (update) return send({ type: "update", ...update });
          continue;
        }
        const job = await findJob(app, workspace_id, job_id);
        if (!job) return finish({ type: "notfound" });
        const update = await jobUpdate(app, job, seen);
        await app.db.settled();
        const isNew =
          first ||
          update.completed ||
          update.running !== undefined ||
          update.new_logs ||
          update.new_result_stream;
        first = false;
        seen.running = job.state === "running";
        seen.log_offset = update.log_offset ?? seen.log_offset;
        seen.stream_offset = update.stream_offset ?? seen.stream_offset;
        if (update.completed) {
          if (!seen.only_result) update.job = toRecord(job);
          return finish({ type: "update", ...update });
        }
        if (isNew) return send({ type: "update", ...update });
      }
    },
    cancel: () => changes.stop(),
  });
  return new Response(body, {
    headers: { "content-type": "text/event-stream", "cache-control": "no-cache", connection: "keep-alive" },
  });
}

/** What a running job has said since; undefined when nothing. Moves the offsets on. */
function tailUpdate(tail: JobTail, seen: Seen): JobUpdate | undefined {
  const update: JobUpdate = {};
  if (!seen.no_logs && tail.log.length > seen.log_offset) {
    update.new_logs = tail.log.slice(seen.log_offset);
    update.log_offset = seen.log_offset = tail.log.length;
  }
  if (tail.stream.length > seen.stream_offset) {
    update.new_result_stream = tail.stream.slice(seen.stream_offset);
    update.stream_offset = seen.stream_offset = tail.stream.length;
  }
  return update.new_logs === undefined && update.new_result_stream === undefined ? undefined : update;
}

/** Wakes for each change of a job, coalescing those that nobody waited for. */
function watch(app: App, job_id: string) {
  let pending = false;
  let waiting: (() => void) | undefined;
  const changed = () => {
    pending = true;
    waiting?.();
  };
  const stops = [app.events.onFinished(job_id, changed)];
  const tail = app.events.tail(job_id);
  if (tail) stops.push(tail.onChange(changed));
  else {
    stops.push(
      app.events.onStarted(job_id, (opened) => {
        stops.push(opened.onChange(changed));
        changed();
      }),
    );
  }
  return {
    /** True at a change, false when `ms` passed without one. */
    async next(ms: number): Promise<boolean> {
      if (!pending) {
        let timer: ReturnType<typeof setTimeout> | undefined;
        await new Promise<void>((resolve) => {
          waiting = resolve;
          timer = setTimeout(resolve, ms);
        });
        clearTimeout(timer);
        waiting = undefined;
      }
      const was = pending;
      pending = false;
      return was;
    },
    stop: () => {
      for (const stop of stops) stop();
    },
  };
}
