/**
 * Writes the log and the result stream of a running job: live through its tail, stored in pieces. Text is released from
 * memory once it is stored and far from the end.
 */
import { and, eq } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import { SvcError } from "../../../lib/errors.ts";
import { mergeMembers } from "../../../lib/json/json.ts";
import type { App } from "../../../platform/app/context.ts";
import type { JobTail } from "../../../platform/events/job-tail.ts";
import { getLogFields } from "../../../platform/queue/log-fields.ts";
import { type Job, jobs } from "../../../platform/queue/tables.ts";
import { formatLogHeader } from "../job/log-header.ts";
import { readOutput, storeOutput } from "../job/logs.ts";
import { formatSandboxSummary } from "./sandbox-summary.ts";

/** How often the output of a running job is stored. */
const FLUSH_INTERVAL_MS = 500;
/** Characters of unstored output that cause a flush before the interval is over. */
const MAX_UNSTORED_CHARS = 524_288;
/** Offsets up to which the log and the stream are stored. */
const NOTHING_STORED = { log: 0, stream: 0 };

class ResultTooLarge extends SvcError {
  override readonly name: string = "ResultTooLarge";
}

/** The fields of a job that its writer needs. */
type OutputJob = Pick<Job, "id" | "request_id" | "delete_after_use">;

/** Creates the writer of a job's log and stream. The log begins with the job's header. */
export function createOutputWriter(app: App, job: Job): OutputWriter {
  return new OutputWriter(app, job, job.id, () => formatLogHeader(job, formatSandboxSummary(app, job)));
}

/** Writes a job's log and result stream. */
export class OutputWriter {
  readonly #app: App;
  readonly #job: OutputJob;
  /** Id of the running job, whose row must be held. */
  readonly #runs: string;
  readonly #tail: JobTail;
  #stored = NOTHING_STORED;
  #timer: ReturnType<typeof setInterval> | undefined;
  #flushing: Promise<void> | undefined;
  #isRefused = false;
  #isStopped = false;
  #flow_job: string | undefined;
  /** Created with the first streamed text: most steps stream nothing. */
  #forwarded: OutputWriter | undefined;

  /**
   * @param runs id of the running job, whose row must be held; differs from `job.id` for a forwarded stream
   * @param header returns the log's header, which is stored only once something follows
   */
  constructor(app: App, job: OutputJob, runs: string, header: () => string) {
    this.#app = app;
    this.#job = job;
    this.#runs = runs;
    this.#tail = app.events.openTail(job.id, header);
  }

  readonly log = (text: string): void => {
    this.#tail.appendLog(text);
    this.#storeSoon();
  };

  readonly stream = (text: string): void => {
    this.#tail.appendStream(text);
    this.#storeSoon();
    if (this.#flow_job === undefined) return;
    const flow = { ...this.#job, id: this.#flow_job };
    this.#forwarded ??= new OutputWriter(this.#app, flow, this.#runs, () => "");
    this.#forwarded.stream(text);
  };

  /** From here on the stream is also the stream of this flow's job. */
  forwardStream(flow_job: string): void {
    this.#flow_job = flow_job;
  }

  /** Stores new output; returns undefined if there is none. */
  store(tx: Tx): Promise<void> | undefined {
    if (!this.#forwarded) return this.#countUnstored() === 0 ? undefined : this.#storeOwn(tx);
    return this.#storeOwn(tx).then(() => this.#forwarded?.store(tx));
  }

  /**
   * Call it when the job has ended: stops periodic flushes and resolves once none is in progress; undefined if none
   * is.
   */
  stop(): Promise<unknown> | undefined {
    this.#isStopped = true;
    this.#tail.finish();
    clearInterval(this.#timer);
    return this.#forwarded ? Promise.all([this.#flushing, this.#forwarded.stop()]) : this.#flushing;
  }

  /** Closes the live log and stream. Call it after the outcome was published, or if that failed. */
  close(): void {
    clearInterval(this.#timer);
    this.#app.events.closeTail(this.#job.id);
    this.#forwarded?.close();
  }

  /** Returns the ids of the jobs under which this output is stored. */
  jobIds(): string[] {
    return this.#forwarded ? [this.#job.id, this.#flow_job!] : [this.#job.id];
  }

  /** Whether the job has streamed anything. */
  hasStreamed(): boolean {
    this.#tail.finish();
    return this.#tail.stream_length > 0;
  }

  /**
   * Merges the streamed text into the result (JSON text), if the job streamed any.
   * @throws ResultTooLarge
   */
  async resultWithStream(result: string): Promise<string> {
    if (!this.hasStreamed() || !canCarryStream(result)) return result;
    const whole = mergeStream(result, await readOutput(this.#app, "stream", this.#job.id, 0));
    const limit = this.#app.config.max_result_mb;
    if (Buffer.byteLength(whole) <= limit * 1_000_000) return whole;
    throw new ResultTooLarge(`the result with all that was streamed is larger than the ${limit} MB allowed`);
  }

  #countUnstored(): number {
    const { log_length, stream_length } = this.#tail;
    return log_length - this.#stored.log + stream_length - this.#stored.stream;
  }

  /** Offsets advance only when the transaction with the pieces is committed. */
  async #storeOwn(tx: Tx): Promise<void> {
    if (this.#countUnstored() === 0) return;
    const { log, stream } = this.#tail;
    const { id } = this.#job;
    const next = {
      log: this.#tail.log_length === 0 ? 0 : await storeOutput(tx, "log", id, log, this.#stored.log),
      stream: await storeOutput(tx, "stream", id, stream, this.#stored.stream),
    };
    tx.afterCommit(() => {
      this.#stored = next;
      log.release(next.log);
      stream.release(next.stream);
      this.#app.bus.publish("said", id);
    });
  }

  #flush(): void {
    if (this.#countUnstored() === 0) return;
    this.#isRefused = false;
    this.#flushing ??= this.#app.db
      .write(async (tx) => {
        if (await isJobHeldHere(this.#app, tx, this.#runs)) await this.#storeOwn(tx);
      })
      .catch((cause) => {
        // Retried at the next interval, not at each write of a job that logs much while the disk is full.
        this.#isRefused = true;
        this.#app.log.warn(
          { ...getLogFields(this.#job), error: String(cause) },
          "a piece of log could not be stored yet",
        );
      })
      .then(() => {
        this.#flushing = undefined;
      });
  }

  #storeSoon(): void {
    // Output of a job with `delete_after_use` stays in memory.
    if (this.#isStopped || this.#job.delete_after_use) return;
    this.#timer ??= setInterval(() => this.#flush(), FLUSH_INTERVAL_MS);
    if (this.#countUnstored() > MAX_UNSTORED_CHARS && !this.#isRefused) this.#flush();
  }
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
