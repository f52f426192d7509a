/**
 * Follows a job to its end by the server's events. A stream that ends before the job does is taken up where it was: at
 * once after the server's comment `timeout`, with growing patience when the connection broke or the server restarts.
 */

import { getJobUpdateStream } from "../../src/features/runs/api/read/operations.ts";
import { STREAM_LIMIT } from "../../src/features/runs/follow/update-events.ts";
import { withoutHeader } from "../../src/features/runs/job/log-header.ts";
import type { Client } from "../client/transport.ts";
import { CliError } from "../terminal/text/failure.ts";

export interface JobRef {
  workspace: string;
  id: string;
}

/** What is told of a job while it lasts. */
export interface Watcher {
  state?: (state: "queued" | "running" | "reconnecting") => void;
  log?: (text: string) => void;
  /** Tell the log with the lines at its head, which say where it runs. */
  header?: boolean;
  /** A piece of its result stream. */
  stream?: (text: string) => void;
  /** It lost its worker and begins anew: its log and stream do too. */
  again?: () => void;
}

/** Before each attempt to reach a server that is gone; after the last one it is given up. */
const PAUSES_MS = [100, 200, 500, 1_000, 2_000, 4_000];
/** The server says something every 5 s: a connection that is silent for so long is dead. */
const SILENCE_MS = 20_000;

interface Seen {
  log_offset: number;
  stream_offset: number;
  running: boolean;
}

/**
 * Tells the watcher all there is of the job, and returns when the job is completed.
 * @throws CliError `Unreachable` when the server stays away, with advice how to go on
 */
export async function followJob(client: Client, job: JobRef, watcher: Watcher): Promise<void> {
  const seen: Seen = { log_offset: 0, stream_offset: 0, running: false };
  for (let failures = 0; ; ) {
    const end = await followOnce(client, job, seen, watcher);
    if (end === "completed") return;
    if (typeof end === "string") failures = 0;
    else if (failures >= PAUSES_MS.length) throw stillGone(end, job);
    if (end === "resume") continue;
    watcher.state?.("reconnecting");
    const pause = PAUSES_MS[failures++];
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}

function stillGone({ name, message, exit_code }: CliError, { id, workspace }: JobRef): CliError {
  const hint = `the job may still be running: svc job logs ${id} --workspace ${workspace} --follow`;
  return new CliError(name, message, { hint, exit_code });
}

/** Follows on one connection. @returns how that ended; the error when there was none */
async function followOnce(
  client: Client,
  job: JobRef,
  seen: Seen,
  watcher: Watcher,
): Promise<"completed" | "resume" | "broken" | CliError> {
  try {
    for await (const event of events(client, job, seen)) {
      if (event.type === "timeout") return "resume";
      // Asked again, the server says what is wrong with the job.
      if (event.error !== undefined) return "broken";
      if (beganAnew(event, seen)) {
        Object.assign(seen, { log_offset: 0, stream_offset: 0, running: false });
        watcher.again?.();
        return "resume";
      }
      tell(event, seen, watcher);
      if (event.completed) return "completed";
    }
    return "broken";
  } catch (cause) {
    if (cause instanceof CliError && cause.name === "Unreachable") return cause;
    throw cause;
  }
}

interface Event {
  type: "update" | "timeout";
  error?: string;
  running?: boolean;
  completed?: boolean;
  new_logs?: string;
  log_offset?: number;
  new_result_stream?: string;
  stream_offset?: number;
}

/** What is queued after it ran, or has less log or stream than before, was put back. */
function beganAnew({ running, completed, ...event }: Event, seen: Seen): boolean {
  const { log_offset = seen.log_offset, stream_offset = seen.stream_offset } = event;
  const shorter = log_offset < seen.log_offset || stream_offset < seen.stream_offset;
  return shorter || (seen.running && running === false && !completed);
}

function tell(event: Event, seen: Seen, watcher: Watcher): void {
  if (event.running !== undefined && !event.completed) {
    seen.running = event.running;
    watcher.state?.(event.running ? "running" : "queued");
  }
  if (event.new_logs) {
    const isHead = seen.log_offset === 0 && !watcher.header;
    watcher.log?.(isHead ? withoutHeader(event.new_logs) : event.new_logs);
  }
  if (event.new_result_stream) watcher.stream?.(event.new_result_stream);
  seen.log_offset = event.log_offset ?? seen.log_offset;
  seen.stream_offset = event.stream_offset ?? seen.stream_offset;
}

/** The server-sent events (WHATWG HTML §9.2) of one connection, to its end, however it comes. */
async function* events(client: Client, { workspace, id }: JobRef, seen: Seen): AsyncGenerator<Event> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), SILENCE_MS);
  try {
    const { log_offset, stream_offset } = seen;
    const query = { log_offset, stream_offset, only_result: true };
    const response = await client.open(getJobUpdateStream, { workspace, id, query } as never, silence.signal);
    const decoder = new TextDecoder();
    let rest = "";
    for await (const bytes of untilBroken(response.body as unknown as AsyncIterable<Uint8Array>)) {
      timer.refresh();
      const frames = (rest + decoder.decode(bytes, { stream: true })).split("\n\n");
      rest = frames.pop()!;
      for (const frame of frames) {
        if (frame.startsWith("data: ")) yield JSON.parse(frame.slice(6)) as Event;
        else if (frame === `: ${STREAM_LIMIT}`) yield { type: "timeout" };
      }
    }
  } finally {
    clearTimeout(timer);
  }
}

/** A connection that breaks ends the stream; the next call tells whether the server is still there. */
async function* untilBroken<T>(body: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* body;
  } catch {
    return;
  }
}
