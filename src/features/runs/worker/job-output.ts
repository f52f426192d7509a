/**
 * Writes the log and the result stream of a running job: live through its tail, stored in pieces. Text is released from
 * memory once it is stored and far from the end.
 */
import { and, eq } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import { SvcError } from "../../../lib/errors.ts";
import { mergeMembers } from "../../../lib/json/json.ts";
import type { App } from "../../../platform/app/context.ts";
import { getLogFields } from "../../../platform/queue/log-fields.ts";
import { type Job, jobs } from "../../../platform/queue/tables.ts";
import { formatLogHeader } from "../job/log-header.ts";
import { readOutput, storeOutput } from "../job/logs.ts";
import { formatSandboxSummary } from "./sandbox-summary.ts";

/** How often the output of a running job is stored. */
const FLUSH_INTERVAL_MS = 500;
/** Characters of unstored output that cause a flush before the interval is over. */
const MAX_UNSTORED_CHARS = 524_288;

export interface OutputWriter {
  log: (text: string) => void;
  stream: (text: string) => void;
  /** From here on the stream is also the stream of this flow's job. */
  forwardStream: (flow_job: string) => void;
  /** Stores new output; returns undefined if there is none. */
  store: (tx: Tx) => Promise<void> | undefined;
  /**
   * Call it when the job has ended: stops periodic flushes and resolves once none is in progress; undefined if none
   * is.
   */
  stop: () => Promise<unknown> | undefined;
  /** Closes the live log and stream. Call it after the outcome was published, or if that failed. */
  close: () => void;
  /** Ids of the jobs under which this output is stored. */
  jobIds: () => string[];
  /**
   * Merges the streamed text into the result (JSON text), if the job streamed any.
   * @throws ResultTooLarge
   */
  resultWithStream: (result: string) => Promise<string>;
  /** Whether the job has streamed anything. */
  hasStreamed: () => boolean;
}

class ResultTooLarge extends SvcError {
  override readonly name: string = "ResultTooLarge";
}

/** Creates the writer of a job's log and stream. The log begins with the job's header. */
export function createOutputWriter(app: App, job: Job): OutputWriter {
  return createWriter(app, job, job.id, formatLogHeader(job, formatSandboxSummary(app, job)));
}

/**
 * Creates the writer of a job's log and result stream.
 * @param runs id of the running job, whose row must be held; differs from `job.id` for a forwarded stream
 * @param header of the log; stored only once something follows
 */
function createWriter(
  app: App,
  job: Pick<Job, "id" | "request_id" | "delete_after_use">,
  runs: string,
  header: string,
): OutputWriter {
  const tail = app.events.openTail(job.id);
  tail.appendLog(header);
  let stored = { log: 0, stream: 0 };
  let timer: ReturnType<typeof setInterval> | undefined;
  let flushing: Promise<void> | undefined;
  let refused = false;
  let stopped = false;
  let flow_job: string | undefined;
  /** Created with the first streamed text: most steps stream nothing. */
  let forwarded: OutputWriter | undefined;

  const logEnd = () => (tail.log.end > header.length ? tail.log.end : 0);
  const unstored = () => logEnd() - stored.log + tail.stream.end - stored.stream;

  /** Offsets advance only when the transaction with the pieces is committed. */
  async function store(tx: Tx): Promise<void> {
    if (unstored() === 0) return;
    const next = {
      log: logEnd() === 0 ? 0 : await storeOutput(tx, "log", job.id, tail.log, stored.log),
      stream: await storeOutput(tx, "stream", job.id, tail.stream, stored.stream),
    };
    tx.afterCommit(() => {
      stored = next;
      tail.log.release(next.log);
      tail.stream.release(next.stream);
      app.bus.publish("said", job.id);
    });
  }

  function flush(): void {
    if (unstored() === 0) return;
    refused = false;
    flushing ??= app.db
      .write(async (tx) => {
        if (await isJobHeldHere(app, tx, runs)) await store(tx);
      })
      .catch((cause) => {
        // Retried at the next interval, not at each write of a job that logs much while the disk is full.
        refused = true;
        app.log.warn(
          { ...getLogFields(job), error: String(cause) },
          "a piece of log could not be stored yet",
        );
      })
      .then(() => {
        flushing = undefined;
      });
  }

  function said(): void {
    // Output of a job with `delete_after_use` stays in memory.
    if (stopped || job.delete_after_use) return;
    timer ??= setInterval(flush, FLUSH_INTERVAL_MS);
    if (unstored() > MAX_UNSTORED_CHARS && !refused) flush();
  }

  return {
    log(text) {
      tail.appendLog(text);
      said();
    },
    stream(text) {
      tail.appendStream(text);
      said();
      if (flow_job === undefined) return;
      forwarded ??= createWriter(app, { ...job, id: flow_job }, runs, "");
      forwarded.stream(text);
    },
    forwardStream(id) {
      flow_job = id;
    },
    store(tx) {
      if (!forwarded) return unstored() === 0 ? undefined : store(tx);
      return store(tx).then(() => forwarded?.store(tx));
    },
    stop() {
      stopped = true;
      tail.finish();
      clearInterval(timer);
      return forwarded ? Promise.all([flushing, forwarded.stop()]) : flushing;
    },
    hasStreamed() {
      tail.finish();
      return tail.stream.end > 0;
    },
    close() {
      clearInterval(timer);
      app.events.closeTail(job.id);
      forwarded?.close();
    },
    jobIds: () => (forwarded ? [job.id, flow_job!] : [job.id]),
    async resultWithStream(result) {
      tail.finish();
      if (tail.stream.end === 0 || !canCarryStream(result)) return result;
      const whole = mergeStream(result, await readOutput(app, "stream", job.id, 0));
      const limit = app.config.max_result_mb;
      if (Buffer.byteLength(whole) <= limit * 1_000_000) return whole;
      throw new ResultTooLarge(
        `the result with all that was streamed is larger than the ${limit} MB allowed`,
      );
    },
  };
}

/** Whether this worker still holds the job; otherwise another worker stores its output. */
async function isJobHeldHere(app: App, tx: Tx, job_id: string): Promise<boolean> {
  const isMine = and(eq(jobs.id, job_id), eq(jobs.state, "running"), eq(jobs.worker, app.queue.worker));
  return (await tx.select({ id: jobs.id }).from(jobs).where(isMine)).length > 0;
}

/**
 * Merges a stream into its job's result. For an iterable, or no result: the whole text as a string. For an object:
 * the object with the whole text in its field `wm_stream`. Any other value stays unchanged; its text can be read as
 * the job's stream.
 */
function mergeStream(result: string, stream: string): string {
  if (!result.startsWith("{")) return JSON.stringify(stream);
  if (result.includes('"wm_stream"')) return mergeMembers(result, { wm_stream: stream });
  const comma = result === "{}" ? "" : ",";
  return `${result.slice(0, -1)}${comma}"wm_stream":${JSON.stringify(stream)}}`;
}

/**
 * Whether the stream can be merged into a result: null, the empty text of an iterable that yielded nothing, or an
 * object.
 */
function canCarryStream(result: string): boolean {
  return result === "null" || result === '""' || result.startsWith("{");
}
