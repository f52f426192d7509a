/**
 * What a job says while it runs: shown live through its tail, stored in pieces, and let go from memory once it is
 * stored and far from the end.
 */
import { and, eq } from "drizzle-orm";
import type { Tx } from "../../../database/database.ts";
import { SvcError } from "../../../lib/errors.ts";
import { withMembers } from "../../../lib/json/json.ts";
import type { App } from "../../../platform/app/context.ts";
import { aboutJob } from "../../../platform/queue/log-fields.ts";
import { type Job, jobs } from "../../../platform/queue/tables.ts";
import { logHeader } from "../job/log-header.ts";
import { readFrom, storeText } from "../job/logs.ts";
import { isolationOf } from "./sandbox-summary.ts";

/** How often what a long job says goes to the database. */
const FLUSH_MS = 500;
/** Most characters that wait for that. */
const MAX_UNSTORED = 524_288;

export interface Output {
  log: (text: string) => void;
  stream: (text: string) => void;
  /** From here on what is streamed is the stream of that flow's job too. */
  forwardStream: (flow_job: string) => void;
  /** Writes what has not been stored yet. */
  store: (tx: Tx) => Promise<void>;
  /** The job has ended. Stores nothing more by itself; resolves when no store is under way. */
  stop: () => Promise<void>;
  /** How the job ended is known to all: a flow it spoke for may go on without a word. */
  close: () => void;
  /** The jobs it is stored under. */
  jobs: () => string[];
  /**
   * What the result (JSON text) is together with the stream, if the job made one.
   * @throws ResultTooLarge
   */
  resultWithStream: (result: string) => Promise<string>;
}

class ResultTooLarge extends SvcError {
  override readonly name: string = "ResultTooLarge";
}

/** What a job says, below the lines that say which job it is. */
export function collectOutput(app: App, job: Job): Output {
  return collect(app, job, job.id, logHeader(job, isolationOf(app, job)));
}

/**
 * @param runs the job that speaks, where it does so for another
 * @param header of the log; stored once something follows
 */
function collect(
  app: App,
  job: Pick<Job, "id" | "request_id" | "delete_after_use">,
  runs: string,
  header: string,
): Output {
  const tail = app.events.openTail(job.id);
  tail.appendLog(header);
  let stored = { log: 0, stream: 0 };
  let timer: ReturnType<typeof setInterval> | undefined;
  let flushing: Promise<void> | undefined;
  let refused = false;
  let stopped = false;
  let flow_job: string | undefined;
  /** Begun with the first word: most steps stream nothing. */
  let forwarded: Output | undefined;

  const logEnd = () => (tail.log.end > header.length ? tail.log.end : 0);
  const unstored = () => logEnd() - stored.log + tail.stream.end - stored.stream;

  /** Offsets move on only when the transaction that holds the pieces is committed. */
  async function store(tx: Tx): Promise<void> {
    if (unstored() === 0) return;
    const next = {
      log: logEnd() === 0 ? 0 : await storeText(tx, "log", job.id, tail.log, stored.log),
      stream: await storeText(tx, "stream", job.id, tail.stream, stored.stream),
    };
    tx.afterCommit(() => {
      stored = next;
      tail.log.release(next.log);
      tail.stream.release(next.stream);
      app.relay.tell("said", job.id);
    });
  }

  function flush(): void {
    if (unstored() === 0) return;
    refused = false;
    flushing ??= app.db
      .write(async (tx) => {
        if (await isHeld(app, tx, runs)) await store(tx);
      })
      .catch((cause) => {
        // Tried again in its time: not at each word of a job that says much while the disk is full.
        refused = true;
        app.log.warn({ ...aboutJob(job), error: String(cause) }, "a piece of log could not be stored yet");
      })
      .then(() => {
        flushing = undefined;
      });
  }

  function said(): void {
    // What is to leave nothing behind stays in memory.
    if (stopped || job.delete_after_use) return;
    timer ??= setInterval(flush, FLUSH_MS);
    if (unstored() > MAX_UNSTORED && !refused) flush();
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
      forwarded ??= collect(app, { ...job, id: flow_job }, runs, "");
      forwarded.stream(text);
    },
    forwardStream(id) {
      flow_job = id;
    },
    async store(tx) {
      await store(tx);
      await forwarded?.store(tx);
    },
    async stop() {
      stopped = true;
      tail.finish();
      clearInterval(timer);
      await Promise.all([flushing, forwarded?.stop()]);
    },
    close() {
      if (forwarded) app.events.closeTail(flow_job!);
    },
    jobs: () => (forwarded ? [job.id, flow_job!] : [job.id]),
    async resultWithStream(result) {
      tail.finish();
      if (tail.stream.end === 0 || !takesStream(result)) return result;
      const whole = withStream(result, await readFrom(app, "stream", job.id, 0));
      const limit = app.config.max_result_mb;
      if (Buffer.byteLength(whole) <= limit * 1_000_000) return whole;
      throw new ResultTooLarge(
        `the result with all that was streamed is larger than the ${limit} MB allowed`,
      );
    },
  };
}

/** Whoever was given the job meanwhile stores what it says now. */
async function isHeld(app: App, tx: Tx, job_id: string): Promise<boolean> {
  const isMine = and(eq(jobs.id, job_id), eq(jobs.state, "running"), eq(jobs.worker, app.queue.worker));
  return (await tx.select({ id: jobs.id }).from(jobs).where(isMine)).length > 0;
}

/**
 * What a job that streamed answers (contract 6.3). A main that returned an iterable, or nothing, has its stream for a
 * result: the whole text as a string. One that returned an object beside what it streamed (by `streamResult`, or lines
 * on stdout) has that object, and in its field `wm_stream` the whole text. Any other value stays what it is, since it
 * has no room for the text, which can still be read as the job's stream.
 */
function withStream(result: string, stream: string): string {
  if (!result.startsWith("{")) return JSON.stringify(stream);
  if (result.includes('"wm_stream"')) return withMembers(result, { wm_stream: stream });
  const comma = result === "{}" ? "" : ",";
  return `${result.slice(0, -1)}${comma}"wm_stream":${JSON.stringify(stream)}}`;
}

/** Nothing, the empty text of an iterable that yielded nothing, or an object. */
function takesStream(result: string): boolean {
  return result === "null" || result === '""' || result.startsWith("{");
}
