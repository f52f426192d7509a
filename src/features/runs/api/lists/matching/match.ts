/**
 * Compares rows on a separate thread if they are large, one batch at a time: parsing a job of 11 MB takes half a
 * second. The first batch starts the thread, which ends after some idle time.
 */
import { withTimeout } from "../../../../../lib/async/sleep.ts";
import { createSlots } from "../../../../../lib/async/slots.ts";
import { Internal, Unavailable } from "../../../../../lib/errors.ts";
import { type JsonCondition, type JsonRow, listMatches } from "./match-rows.ts";
import type { MatchReply, MatchRequest } from "./match-thread.ts";

/** Size up to which rows are compared on this thread: about 3 ms. */
const MAX_HERE_BYTES = 100_000;
/** Timeout of a batch; a job of 100 MB takes some seconds. */
const TIMEOUT_MS = 60_000;
/** Idle time after which the thread ends. */
const IDLE_MS = 60_000;

/** Located like the thread that analyses scripts. */
const PROGRAM = import.meta.url.includes("$bunfs")
  ? "./src/features/runs/api/lists/matching/match-thread.ts"
  : new URL("match-thread.ts", import.meta.url).href;

const slots = createSlots(1);
let thread: Worker | undefined;
let idle: ReturnType<typeof setTimeout> | undefined;

/**
 * Lists the ids of the rows that meet the condition.
 * @param bytes size of the rows
 * @throws Unavailable after the timeout
 */
export async function findMatches(
  rows: readonly JsonRow[],
  wanted: JsonCondition,
  bytes: number,
): Promise<string[]> {
  if (bytes <= MAX_HERE_BYTES) return listMatches(rows, wanted);
  const reply = await slots.run(() => ask(rows, wanted));
  if ("error" in reply) throw new Internal(`the jobs could not be compared: ${reply.error}`);
  return reply.ids;
}

async function ask(rows: readonly JsonRow[], wanted: JsonCondition): Promise<MatchReply> {
  const request: MatchRequest = {
    rows: rows.map(({ args: _args, result: _result, ...row }) => row),
    lengths: rows.map(({ args, result }) => [args?.length, result?.length]),
    wanted: JSON.stringify(wanted),
  };
  const text = rows.map(({ args, result }) => `${args ?? ""}${result ?? ""}`).join("");
  clearTimeout(idle);
  thread ??= new Worker(PROGRAM);
  const worker = thread;
  worker.ref();
  const reply = new Promise<MatchReply>((resolve, reject) => {
    worker.onmessage = ({ data }: MessageEvent<MatchReply>) => resolve(data);
    worker.onerror = ({ message }) =>
      reject(new Internal(`the thread that compares jobs failed: ${message}`));
    worker.postMessage(request);
    worker.postMessage(text);
  });
  try {
    const found = await withTimeout(TIMEOUT_MS, reply, createTimeoutError);
    rest(worker);
    return found;
  } catch (cause) {
    endThread();
    throw cause;
  }
}

/** An idle thread must not keep the process alive. */
function rest(worker: Worker): void {
  worker.unref();
  idle = setTimeout(endThread, IDLE_MS);
  idle.unref();
}

function endThread(): void {
  thread?.terminate();
  thread = undefined;
}

function createTimeoutError(): Unavailable {
  return new Unavailable(`comparing the jobs took longer than the ${TIMEOUT_MS / 1000} s it may`, {
    hint: "narrow the filter, such as by the time of creation",
  });
}
