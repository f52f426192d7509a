/**
 * The updates of a job as server-sent events (WHATWG HTML §9.2), to its completion.
 *
 * Nothing is buffered for a slow reader: events are written only while the reader takes them, each holding what there is
 * since the last one. A reader that is as fast as the job is told from memory, a slow or late one from the database.
 */

import { NotFound } from "../../../lib/errors.ts";
import type { App, Caller } from "../../../platform/app/context.ts";
import { describeError } from "../../../platform/http/respond.ts";
import type { Job } from "../../../platform/queue/tables.ts";
import { readStored, type Said, withHeader } from "../job/logs.ts";
import { findJob } from "../submit/service.ts";
import { type Follower, type JobFeed, joinFeed, leaveFeed } from "./job-feed.ts";
import { type Completion, errorUpdate, keyOf, STREAM_LIMIT, writeUpdate } from "./update-events.ts";
import { type JobUpdate, type Seen, shorterThan } from "./updates.ts";

const PING_MS = 5_000;
/** When a stream of getupdate_sse ends. */
const LIMIT_MS = 30_000;
/**
 * How often the row is read for what nobody tells of: progress, and jobs that another process runs. Who asks to be told
 * fast has it read at each tick.
 */
const LOOK_MS = 3_000;
/** Most characters of log, and of stream, in one event. */
const MOST = 65_536;
/** Most bytes handed to the connection at a time. */
const SLICE = 131_072;

export interface StreamOptions {
  workspace_id: string;
  job_id: string;
  seen: Seen;
  fast: boolean;
  /** End after half a minute, as getupdate_sse does; run_and_stream goes on to the end. */
  limited: boolean;
  caller: Caller;
}

export class UpdateStream implements Follower {
  readonly #app: App;
  readonly #options: StreamOptions;
  readonly #seen: Seen & { mem_peak?: number; progress?: number };
  readonly #feed: JobFeed;
  #controller!: ReadableStreamDefaultController<Uint8Array>;
  /** What the row said when it was last read. */
  #row: Job | undefined;
  /** What is on its way to the connection, and whether the stream ends with it. */
  #out: Uint8Array | undefined;
  #last = false;
  #isFirst = true;
  #due: "ping" | "timeout" | "look" | undefined;
  #busy = false;
  /** Something happened since it was last looked for. */
  #woken = false;
  #closed = false;
  /** Milliseconds since 1970. */
  readonly #opened: number;
  #quietSince: number;
  #tickedAt: number;
  #lookedAt: number;
  #told = false;

  constructor(app: App, options: StreamOptions) {
    this.#app = app;
    this.#options = options;
    this.#seen = { ...options.seen };
    this.#opened = this.#quietSince = this.#tickedAt = this.#lookedAt = app.clock().getTime();
    this.#feed = joinFeed(app, options.job_id, this);
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

  /** What the row says as the stream begins. */
  note(job: Job): void {
    this.#row = job;
  }

  stop(): void {
    this.#closed = true;
    leaveFeed(this.#app, this.#feed, this);
  }

  wake(): void {
    this.#woken = true;
    // Another process tells that something happened, not what.
    if (this.#app.db.channel && !this.#feed.tail && !this.#feed.ended && !this.#isElsewhere())
      this.#due ??= "look";
    this.#pump();
  }

  tick(now: number): void {
    // Something was told since the last tick: when exactly is not worth a look at the clock each time.
    if (this.#told) this.#quietSince = this.#tickedAt;
    this.#told = false;
    this.#tickedAt = now;
    if (this.#options.limited && now - this.#opened >= LIMIT_MS) this.#due = "timeout";
    else if (this.#mustLook(now)) this.#due = "look";
    else if (now - this.#quietSince >= PING_MS) this.#due = "ping";
    else return;
    this.#pump();
  }

  #mustLook(now: number): boolean {
    const { ended, end, tail } = this.#feed;
    if (this.#row?.state === "completed") return false;
    if (ended) return end === undefined;
    if (!this.#options.fast && now - this.#lookedAt < LOOK_MS) return false;
    this.#lookedAt = now;
    return this.#seen.get_progress || (tail === undefined && this.#app.db.dialect === "postgres");
  }

  /** Writes what is new as long as the reader takes it. */
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

  /** A large event goes out in slices, as the reader takes them. */
  #writeOut(out: Uint8Array): void {
    const isWhole = out.length <= SLICE;
    this.#out = isWhole ? undefined : out.subarray(SLICE);
    this.#told = true;
    // A reader that waits takes it within this call, and asks for more.
    this.#busy = true;
    this.#controller.enqueue(isWhole ? out : out.subarray(0, SLICE));
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
    return this.#tell(errorUpdate(describeError(cause).message));
  }

  /** @returns whether there was something: it is in `#out`, or is found by asking again */
  #next(): boolean | Promise<boolean> {
    const due = this.#due;
    this.#due = undefined;
    if (due === "timeout") return this.#comment(STREAM_LIMIT, true);
    if (due === "look") return this.#look();
    const completion = this.#completion();
    if (completion instanceof Promise) return completion;
    const log = this.#seen.no_logs ? "" : this.#text("log", completion);
    const stream = this.#text("stream", completion);
    if (typeof log !== "string" || typeof stream !== "string")
      return this.#readAndUpdate(log, stream, completion);
    if (this.#update(log, stream, completion)) return true;
    return due === "ping" && this.#comment("ping", false);
  }

  async #look(): Promise<boolean> {
    const job = await findJob(this.#app, this.#options.workspace_id, this.#feed.job_id);
    await this.#app.db.settled();
    if (!job)
      return this.#tell(errorUpdate(describeError(new NotFound(`job ${this.#feed.job_id} is gone`)).message));
    this.#row = job;
    return true;
  }

  #completion(): Completion | undefined | Promise<boolean> {
    if (this.#row?.state === "completed") return { result: this.#row.result ?? "null", job: this.#row };
    const { end } = this.#feed;
    if (!end) return undefined;
    if (this.#seen.only_result) return { result: end.result, job: undefined };
    return this.#feed.row(this.#options.workspace_id).then((job) => {
      if (job?.state !== "completed")
        return this.#tell(
          errorUpdate(describeError(new NotFound(`job ${this.#feed.job_id} is gone`)).message),
        );
      this.#row = job;
      return true;
    });
  }

  #isRunning(): boolean {
    if (this.#feed.ended || this.#row?.state === "completed") return false;
    return this.#feed.tail !== undefined || this.#isElsewhere();
  }

  /** Another process runs the job: what it says is found in the database. */
  #isElsewhere(): boolean {
    return this.#feed.tail === undefined && !this.#feed.ended && this.#row?.state === "running";
  }

  /** What is new of a text, from memory if it is there. */
  #text(said: Said, completion: Completion | undefined): string | Promise<string> {
    const offset = this.#seen[`${said}_offset`];
    const live = this.#feed.tail?.[said].from(offset, MOST);
    if (live !== undefined) return live;
    if (!this.#feed.tail && !completion && !this.#isElsewhere()) return "";
    const stored = readStored(this.#app, said, this.#feed.job_id, offset, MOST);
    const job = said === "log" ? (completion?.job ?? this.#row) : undefined;
    return job ? stored.then((text) => withHeader(job, offset, text)) : stored;
  }

  async #readAndUpdate(
    log: string | Promise<string>,
    stream: string | Promise<string>,
    completion: Completion | undefined,
  ): Promise<boolean> {
    const texts = await Promise.all([log, stream]);
    await this.#app.db.settled();
    return this.#update(...texts, completion);
  }

  /** Tells what is new, and the end together with the last of the text. @returns false when nothing is */
  #update(log: string, stream: string, completion: Completion | undefined): boolean {
    const seen = this.#seen;
    const update: JobUpdate = {};
    const running = this.#isRunning();
    if (running !== seen.running) update.running = seen.running = running;
    if (this.#isFirst && this.#feed.tail) Object.assign(update, shorterThan(this.#feed.tail, seen));
    if (log !== "") update.log_offset = seen.log_offset += log.length;
    if (stream !== "") update.stream_offset = seen.stream_offset += stream.length;
    const { mem_peak_kb, progress } = this.#row ?? { mem_peak_kb: null, progress: null };
    if (mem_peak_kb !== null && mem_peak_kb !== seen.mem_peak) update.mem_peak = seen.mem_peak = mem_peak_kb;
    if (seen.get_progress && progress !== null && progress !== seen.progress)
      update.progress = seen.progress = progress;
    // Less than was asked for is all there is; a pair that was not cut makes it one less.
    const isWhole = log.length < MOST - 1 && stream.length < MOST - 1;
    const ended = isWhole ? completion : undefined;
    if (ended) update.completed = true;
    else if (!this.#isFirst && Object.keys(update).length === 0) return false;
    this.#isFirst = false;
    this.#last = ended !== undefined;
    const how = { caller: this.#options.caller, only_result: seen.only_result };
    const key = () => `${JSON.stringify(update)} ${log.length} ${stream.length} ${keyOf(how)}`;
    this.#out = this.#feed.bytes(key, () => {
      if (log !== "") update.new_logs = log;
      if (stream !== "") update.new_result_stream = stream;
      return writeUpdate(update, ended, how);
    });
    return true;
  }

  /** The last event. */
  #tell(event: object): true {
    return this.#send(`data: ${JSON.stringify(event)}`, true);
  }

  /** No event to any client: it keeps the connection open, and says what it ends with. */
  #comment(text: string, last: boolean): true {
    return this.#send(`: ${text}`, last);
  }

  #send(text: string, last: boolean): true {
    this.#out = new TextEncoder().encode(`${text}\n\n`);
    this.#last = last;
    return true;
  }
}
