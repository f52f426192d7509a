/**
 * Follows a job to its completion by server-sent events. If a stream ends early, it is resumed at its offsets:
 * immediately after the comment `timeout`, with growing delays after a broken connection or a server restart.
 */

import { LIMIT_COMMENT } from "../../src/features/runs/follow/limit-comment.ts";
import { stripLogHeader } from "../../src/features/runs/job/log-header.ts";
import { type Backoff, computeBackoffMs } from "../../src/lib/async/retry.ts";
import { sleep } from "../../src/lib/async/sleep.ts";
import { getJobUpdateStream } from "../client/operations/runs.ts";
import type { ServiceClient } from "../client/transport.ts";
import { CliError } from "../terminal/text/failure.ts";

export interface JobRef {
  workspace: string;
  id: string;
}

/** Callbacks for a job's updates. */
export interface JobWatcher {
  state?: (state: "queued" | "running" | "reconnecting") => void;
  log?: (text: string) => void;
  /** Include the log's header, which says where the job runs. */
  header?: boolean;
  /** Part of the result stream. */
  stream?: (text: string) => void;
  /** Called if the job lost its worker and starts again, with a new log and stream. */
  again?: () => void;
}

const RECONNECT_BACKOFF: Backoff = { first_ms: 100, max_ms: 4_000, jitter: 0 };
/** After the last attempt the command fails. */
const MAX_RECONNECTS = 7;
/** The server sends something every 5 s, so a connection that is silent this long is dead. */
const SILENCE_TIMEOUT_MS = 20_000;

interface SeenState {
  log_offset: number;
  stream_offset: number;
  running: boolean;
}

/**
 * Reports all updates to the watcher and returns when the job is completed.
 * @throws CliError `Unreachable` if the server stays unreachable, with a hint how to continue
 */
export async function followJob(client: ServiceClient, job: JobRef, watcher: JobWatcher): Promise<void> {
  const seen: SeenState = { log_offset: 0, stream_offset: 0, running: false };
  for (let failures = 0; ; ) {
    const end = await followOnce(client, job, seen, watcher);
    if (end === "completed") return;
    if (typeof end === "string") failures = 0;
    else if (failures >= MAX_RECONNECTS) throw createUnreachableError(end, job);
    if (end === "resume") continue;
    watcher.state?.("reconnecting");
    await sleep(computeBackoffMs(RECONNECT_BACKOFF, ++failures));
  }
}

function createUnreachableError({ name, message, exit_code }: CliError, { id, workspace }: JobRef): CliError {
  const hint = `the job may still be running: svc job logs ${id} --workspace ${workspace} --follow`;
  return new CliError(name, message, { hint, exit_code });
}

/** Follows the job on one connection. @returns how it ended; the error if it could not be opened */
async function followOnce(
  client: ServiceClient,
  job: JobRef,
  seen: SeenState,
  watcher: JobWatcher,
): Promise<"completed" | "resume" | "broken" | CliError> {
  try {
    for await (const event of readEvents(client, job, seen)) {
      if (event.type === "timeout") return "resume";
      // The next request returns the error properly.
      if (event.error !== undefined) return "broken";
      if (hasRestarted(event, seen)) {
        Object.assign(seen, { log_offset: 0, stream_offset: 0, running: false });
        watcher.again?.();
        return "resume";
      }
      notifyWatcher(event, seen, watcher);
      if (event.completed) return "completed";
    }
    return "broken";
  } catch (cause) {
    if (cause instanceof CliError && cause.name === "Unreachable") return cause;
    throw cause;
  }
}

interface UpdateEvent {
  type: "update" | "timeout";
  error?: string;
  running?: boolean;
  completed?: boolean;
  new_logs?: string;
  log_offset?: number;
  new_result_stream?: string;
  stream_offset?: number;
}

/** Whether the job was requeued: it is queued after it ran, or its log or stream became shorter. */
function hasRestarted({ running, completed, ...event }: UpdateEvent, seen: SeenState): boolean {
  const { log_offset = seen.log_offset, stream_offset = seen.stream_offset } = event;
  const shorter = log_offset < seen.log_offset || stream_offset < seen.stream_offset;
  return shorter || (seen.running && running === false && !completed);
}

function notifyWatcher(event: UpdateEvent, seen: SeenState, watcher: JobWatcher): void {
  if (event.running !== undefined && !event.completed) {
    seen.running = event.running;
    watcher.state?.(event.running ? "running" : "queued");
  }
  if (event.new_logs) {
    const isHead = seen.log_offset === 0 && !watcher.header;
    watcher.log?.(isHead ? stripLogHeader(event.new_logs) : event.new_logs);
  }
  if (event.new_result_stream) watcher.stream?.(event.new_result_stream);
  seen.log_offset = event.log_offset ?? seen.log_offset;
  seen.stream_offset = event.stream_offset ?? seen.stream_offset;
}

/** Yields the server-sent events (WHATWG HTML §9.2) of one connection until it ends or breaks. */
async function* readEvents(
  client: ServiceClient,
  { workspace, id }: JobRef,
  seen: SeenState,
): AsyncGenerator<UpdateEvent> {
  const silence = new AbortController();
  const timer = setTimeout(() => silence.abort(), SILENCE_TIMEOUT_MS);
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
        if (frame.startsWith("data: ")) yield JSON.parse(frame.slice(6)) as UpdateEvent;
        else if (frame === `: ${LIMIT_COMMENT}`) yield { type: "timeout" };
      }
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Ends when the connection breaks; the next call finds out whether the server is still reachable. */
async function* untilBroken<T>(body: AsyncIterable<T>): AsyncGenerator<T> {
  try {
    yield* body;
  } catch {
    return;
  }
}
