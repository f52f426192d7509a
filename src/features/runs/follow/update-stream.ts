/**
 * The updates of a job as server-sent events (WHATWG HTML §9.2), to its completion.
 *
 * Nothing is buffered for a slow reader: an event is written only when the reader takes it, and contains everything
 * since the last one. Current readers get data from memory, late or slow ones from the database.
 */

import { NotFound } from "../../../lib/errors.ts";
import type { App } from "../../../platform/app/context.ts";
import { describeError } from "../../../platform/http/respond.ts";
import type { Job } from "../../../platform/queue/tables.ts";
import { addLogHeader, type OutputKind, readStoredOutput } from "../job/logs.ts";
import { findJob } from "../submit/find-and-cancel.ts";
import { type FeedFollower, type JobFeed, subscribeToFeed, unsubscribeFromFeed } from "./job-feed.ts";
import { LIMIT_COMMENT } from "./limit-comment.ts";
import {
  type Completion,
  createAudienceKey,
  createErrorUpdate,
  formatUpdate,
  STOP_COMMENT,
  type StreamOptions,
} from "./update-events.ts";
import { findShrunkOffsets, type JobUpdate, type SeenState } from "./updates.ts";

const PING_INTERVAL_MS = 5_000;
/** Duration of a getupdate_sse stream. */
const MAX_STREAM_MS = 30_000;
/**
 * Interval of reading the row for changes without an event: progress, and jobs of other processes. With `fast` it is
 * read at each tick.
 */
const READ_INTERVAL_MS = 3_000;
/** Maximum characters of log, and of stream, in one event. */
const MAX_EVENT_CHARS = 65_536;
/** Maximum bytes passed to the connection at a time. */
const MAX_CHUNK_BYTES = 131_072;

export class UpdateStream implements FeedFollower {
  readonly #app: App;
  readonly #options: StreamOptions;
  readonly #seen: SeenState & { mem_peak?: number; progress?: number };
  readonly #feed: JobFeed;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  /** The row when it was last read. */
  #row: Job | undefined;
  /** Bytes not yet taken by the connection, and whether the stream ends with them. */
  #out: Uint8Array | undefined;
  #last = false;
  #isFirst = true;
  #due: "ping" | "timeout" | "look" | undefined;
  #busy = false;
  /** An event occurred since the last check. */
  #woken = false;
  #closed = false;
  /** Milliseconds since 1970. */
  readonly #opened: number;
  #quietSince: number;
  #tickedAt: number;
  #lookedAt: number;
  #told = false;
  #isEnding = false;

  constructor(app: App, options: StreamOptions) {
    this.#app = app;
    this.#options = options;
    this.#seen = { ...options.seen };
    this.#opened = this.#quietSince = this.#tickedAt = this.#lookedAt = app.clock().getTime();
    this.#feed = subscribeToFeed(app, options.job_id, this);
  }

  body(): ReadableStream<Uint8Array> {
    return new ReadableStream<Uint8Array>({
      start: (controller) => {
        this.#controller = controller;
      },
      pull: () => this.#pump(),
      cancel: () => this.stop(),
    });
  }

  /** Sets the row at the start of the stream. */
  setJob(job: Job): void {
    this.#row = job;
  }

  stop(): void {
    this.#closed = true;
    unsubscribeFromFeed(this.#app, this.#feed, this);
  }

  wake(): void {
    this.#woken = true;
    // Messages from another process say that something changed, not what.
    if (this.#app.db.channel && !this.#feed.tail && !this.#feed.ended && !this.#isElsewhere())
      this.#due ??= "look";
    this.#pump();
  }

  end(): void {
    this.#isEnding = this.#woken = true;
    this.#pump();
  }

  tick(now: number): void {
    // Data was sent since the last tick: the tick's time is exact enough.
    if (this.#told) this.#quietSince = this.#tickedAt;
    this.#told = false;
    this.#tickedAt = now;
    if (this.#options.limited && now - this.#opened >= MAX_STREAM_MS) this.#due = "timeout";
    else if (this.#mustLook(now)) this.#due = "look";
    else if (now - this.#quietSince >= PING_INTERVAL_MS) this.#due = "ping";
    else return;
    this.#pump();
  }

  #mustLook(now: number): boolean {
    const { ended, outcome, tail } = this.#feed;
    if (this.#row?.state === "completed") return false;
    if (ended) return outcome === undefined;
    if (!this.#options.fast && now - this.#lookedAt < READ_INTERVAL_MS) return false;
    this.#lookedAt = now;
    return this.#seen.get_progress || (tail === undefined && this.#app.db.dialect === "postgres");
  }

  /** Writes updates as long as the reader takes them. */
  #pump(): void {
    if (!this.#controller) return;
    while (!this.#busy && !this.#closed && this.#controller.desiredSize! > 0) {
      if (this.#out) {
        this.#writeOut(this.#out);
        continue;
      }
      this.#woken = false;
      const more = this.#tryNext();
      if (more instanceof Promise) this.#await(more);
      else if (!more) return;
    }
  }

  /** Writes a large event in chunks, as the reader takes them. */
  #writeOut(out: Uint8Array): void {
    const isWhole = out.length <= MAX_CHUNK_BYTES;
    this.#out = isWhole ? undefined : out.subarray(MAX_CHUNK_BYTES);
    this.#told = true;
    // `enqueue` may call `pull` synchronously if the reader waits.
    this.#busy = true;
    this.#controller.enqueue(isWhole ? out : out.subarray(0, MAX_CHUNK_BYTES));
    this.#busy = false;
    if (!isWhole || !this.#last || this.#closed) return;
    this.#controller.close();
    this.stop();
  }

  #await(more: Promise<boolean>): void {
    this.#busy = true;
    more
      .catch((cause) => this.#fail(cause))
      .then((isMore) => {
        this.#busy = false;
        if (isMore || this.#woken) this.#pump();
      });
  }

  #tryNext(): boolean | Promise<boolean> {
    try {
      return this.#next();
    } catch (cause) {
      return this.#fail(cause);
    }
  }

  #fail(cause: unknown): true {
    this.#app.log.error({ job: this.#feed.job_id, error: String(cause) }, "a stream of updates failed");
    return this.#tell(createErrorUpdate(describeError(cause).message));
  }

  /** Prepares the next event. @returns whether there was data: it is in `#out`, or the next call finds it */
  #next(): boolean | Promise<boolean> {
    const due = this.#due;
    this.#due = undefined;
    if (due === "timeout") return this.#comment(LIMIT_COMMENT, true);
    if (due === "look") return this.#look();
    const completion = this.#completion();
    if (completion instanceof Promise) return completion;
    const log = this.#seen.no_logs ? "" : this.#text("log", completion);
    const stream = this.#text("stream", completion);
    if (typeof log !== "string" || typeof stream !== "string")
      return this.#readAndUpdate(log, stream, completion);
    if (this.#update(log, stream, completion) || this.#endIfDue()) return true;
    return due === "ping" && this.#comment("ping", false);
  }

  async #look(): Promise<boolean> {
    const job = await findJob(this.#app, this.#options.workspace_id, this.#feed.job_id);
    await this.#app.db.readBarrier();
    if (!job) return this.#tellGone();
    this.#row = job;
    return true;
  }

  #completion(): Completion | undefined | Promise<boolean> {
    if (this.#row?.state === "completed") return { result: this.#row.result ?? "null", job: this.#row };
    const { outcome } = this.#feed;
    if (!outcome) return undefined;
    if (this.#seen.only_result) return { result: outcome.result, job: undefined };
    return this.#feed.row(this.#options.workspace_id).then((job) => {
      if (job?.state !== "completed") return this.#tellGone();
      this.#row = job;
      return true;
    });
  }

  #isRunning(): boolean {
    if (this.#feed.ended || this.#row?.state === "completed") return false;
    return this.#feed.tail !== undefined || this.#isElsewhere();
  }

  /** Returns whether another process runs the job, so that its output is read from the database. */
  #isElsewhere(): boolean {
    return this.#feed.tail === undefined && !this.#feed.ended && this.#row?.state === "running";
  }

  /** Returns new text, from memory if possible. */
  #text(said: OutputKind, completion: Completion | undefined): string | Promise<string> {
    const offset = this.#seen[`${said}_offset`];
    const live = this.#feed.tail?.[said].textFrom(offset, MAX_EVENT_CHARS);
    if (live !== undefined) return live;
    if (!this.#feed.tail && !completion && !this.#isElsewhere()) return "";
    const stored = readStoredOutput(this.#app, said, this.#feed.job_id, offset, MAX_EVENT_CHARS);
    const job = said === "log" ? (completion?.job ?? this.#row) : undefined;
    return job ? stored.then((text) => addLogHeader(job, offset, text)) : stored;
  }

  async #readAndUpdate(
    log: string | Promise<string>,
    stream: string | Promise<string>,
    completion: Completion | undefined,
  ): Promise<boolean> {
    const texts = await Promise.all([log, stream]);
    await this.#app.db.readBarrier();
    return this.#update(...texts, completion) || this.#endIfDue();
  }

  #endIfDue(): boolean {
    return this.#isEnding && this.#comment(STOP_COMMENT, true);
  }

  /** Queues an update, with the completion once all text was sent. @returns false if there is nothing new */
  #update(log: string, stream: string, completion: Completion | undefined): boolean {
    const seen = this.#seen;
    const update: JobUpdate = {};
    const running = this.#isRunning();
    if (running !== seen.running) update.running = seen.running = running;
    if (this.#isFirst && this.#feed.tail) Object.assign(update, findShrunkOffsets(this.#feed.tail, seen));
    if (log !== "") update.log_offset = seen.log_offset += log.length;
    if (stream !== "") update.stream_offset = seen.stream_offset += stream.length;
    const { mem_peak_kb, progress } = this.#row ?? { mem_peak_kb: null, progress: null };
    if (mem_peak_kb !== null && mem_peak_kb !== seen.mem_peak) update.mem_peak = seen.mem_peak = mem_peak_kb;
    if (seen.get_progress && progress !== null && progress !== seen.progress)
      update.progress = seen.progress = progress;
    // Text below the maximum was read to its end. The maximum is one less, since a surrogate pair is not split.
    const isWhole = log.length < MAX_EVENT_CHARS - 1 && stream.length < MAX_EVENT_CHARS - 1;
    const ended = isWhole ? completion : undefined;
    if (ended) update.completed = true;
    else if (!this.#isFirst && Object.keys(update).length === 0) return false;
    this.#isFirst = false;
    this.#last = ended !== undefined;
    const how = { caller: this.#options.caller, only_result: seen.only_result };
    const key = () => `${JSON.stringify(update)} ${log.length} ${stream.length} ${createAudienceKey(how)}`;
    this.#out = this.#feed.bytes(key, () => {
      if (log !== "") update.new_logs = log;
      if (stream !== "") update.new_result_stream = stream;
      return formatUpdate(update, ended, how);
    });
    return true;
  }

  #tellGone(): true {
    const gone = new NotFound(`job ${this.#feed.job_id} is gone`);
    return this.#tell(createErrorUpdate(describeError(gone).message));
  }

  /** Queues the last event. */
  #tell(event: object): true {
    return this.#send(`data: ${JSON.stringify(event)}`, true);
  }

  /** Queues a comment, which clients ignore: it keeps the connection open, or says why it ends. */
  #comment(text: string, last: boolean): true {
    return this.#send(`: ${text}`, last);
  }

  #send(text: string, last: boolean): true {
    this.#out = new TextEncoder().encode(`${text}\n\n`);
    this.#last = last;
    return true;
  }
}
