/**
 * Reads rows of Parquet and CSV files on a separate thread, one file at a time, so that decoding does not block the
 * event loop. The thread requests the byte ranges that it needs; no file is in memory as a whole.
 */
import { createSlots } from "../../../../lib/async/slots.ts";
import { BadRequest, Internal, Unavailable } from "../../../../lib/errors.ts";
import type { StoredFile } from "../object-store.ts";
import type { FromThread, MessageToThread, TableAnswer, TableRequest } from "./protocol.ts";

const TIMEOUT_MS = 20_000;
/**
 * Memory by which the server may grow while it reads a file. A few bytes of a file can say "repeat this value a billion
 * times", and the decoder does.
 */
const MAX_GROWTH_BYTES = 1_000_000_000;
const GROWTH_CHECK_MS = 25;
/** Maximum size of a byte range: a column of a Parquet row group. */
const MAX_PART_BYTES = 64_000_000;

/** Located like the thread that analyses scripts. */
const PROGRAM = import.meta.url.includes("$bunfs")
  ? "./src/features/assets/storage/tables/table-thread.ts"
  : new URL("table-thread.ts", import.meta.url).href;

const MAX_WAITING = 10;

const slots = createSlots(1);
let waiting = 0;

/**
 * Reads a page of rows, or counts them.
 * @param signal aborts the wait for the thread
 * @throws BadRequest for a file that is not a valid table, or takes too long to read; Unavailable if too many reads
 * wait
 */
export async function readTable(
  file: StoredFile,
  request: Omit<TableRequest, "size">,
  signal: AbortSignal,
): Promise<TableAnswer> {
  if (waiting >= MAX_WAITING)
    throw new Unavailable("too many files are waiting to be read: try again in a minute");
  waiting++;
  const leave = await slots.acquire(signal).finally(() => waiting--);
  try {
    signal.throwIfAborted();
    return await runThread(file, { ...request, size: file.info.size });
  } finally {
    leave();
  }
}

async function runThread(file: StoredFile, request: TableRequest): Promise<TableAnswer> {
  const worker = new Worker(PROGRAM);
  const send = (message: MessageToThread) =>
    worker.postMessage(message, message.kind === "bytes" ? [message.bytes] : []);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const ended = new AbortController();
  try {
    return await new Promise<TableAnswer>((resolve, reject) => {
      const read = async (id: number, start: number, end: number) =>
        send({ kind: "bytes", id, bytes: await readPart(file, start, end) });
      worker.onmessage = ({ data }: MessageEvent<FromThread>) => {
        if (data.kind === "done") resolve(data.answer);
        else if (data.kind === "failed") reject(new BadRequest(data.message));
        else read(data.id, data.start, data.end).catch(reject);
      };
      worker.onerror = ({ message }) => reject(new Internal(message));
      timer = setTimeout(
        () => reject(new BadRequest(`reading the file took longer than the limit of ${TIMEOUT_MS / 1000} s`)),
        TIMEOUT_MS,
      );
      void limitGrowth(ended.signal, () => reject(new BadRequest("reading the file takes too much memory")));
      send({ kind: "start", request });
    });
  } finally {
    clearTimeout(timer);
    ended.abort();
    worker.terminate();
  }
}

/** Calls back once the process has grown by more than the limit, until the signal is aborted. */
async function limitGrowth(ended: AbortSignal, onExceeded: () => void): Promise<void> {
  const before = process.memoryUsage.rss();
  while (!ended.aborted) {
    await Bun.sleep(GROWTH_CHECK_MS);
    if (process.memoryUsage.rss() - before > MAX_GROWTH_BYTES) return onExceeded();
  }
}

/** Reads a range of bytes of a stored file. @param end exclusive */
async function readPart(file: StoredFile, start: number, end: number): Promise<ArrayBuffer> {
  if (end - start > MAX_PART_BYTES) {
    throw new BadRequest(
      `a part of the file has more than ${MAX_PART_BYTES} bytes, which is too large to be shown`,
    );
  }
  if (end <= start) return new ArrayBuffer(0);
  return new Response(await file.read({ start, end: end - 1 })).arrayBuffer();
}
