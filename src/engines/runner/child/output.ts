/** The job's printed output: written synchronously, with end marks where needed. */
import { ptr } from "bun:ffi";
import { files, findUnreadPipe, libc, nodeFs } from "./system.ts";

const F_GETFL = 3;
const F_SETFL = 4;
const O_NONBLOCK = 0o4000;

/**
 * Whether the job has printed. The server may read the pipe after this process's answer, so a job that printed ends
 * its output with a mark. Output that bypasses these functions is detected in the pipe.
 */
let printed = false;
/** Parts of the mark written before the first output of a job whose start the server may not know yet. */
let announced: { nonce: string; sequence: number } | undefined;

/**
 * Announces the start of a job in its output, so that the server can assign what follows.
 * @param nonce random text in the marks; undefined if the server knows that the job has started
 */
export function announceOutput(nonce: string | undefined, sequence: number): void {
  announced = nonce === undefined ? undefined : { nonce, sequence };
}

/** Call before each output. */
function beginOutput(): void {
  printed = true;
  if (announced === undefined) return;
  const mark = Buffer.from(`\0${announced.nonce}>${announced.sequence}\0`);
  announced = undefined;
  writeAll(1, mark);
  writeAll(2, mark);
}

const methods = console as unknown as Record<string, unknown>;
for (const name of Object.keys(console)) {
  // Reading it loads Node's streams.
  if (name === "Console") continue;
  const original = methods[name];
  if (typeof original !== "function") continue;
  methods[name] = function (this: unknown, ...values: unknown[]) {
    beginOutput();
    return (original as (...values: unknown[]) => unknown).apply(this, values);
  };
}

let hasPatchedStreams = false;

/**
 * Makes writes to the streams finish before they return, like Node's; Bun's are asynchronous. Loading the streams takes
 * as long as starting the runtime, so a process does it only before it loads code that may use them.
 */
export function patchStreams(): void {
  if (hasPatchedStreams) return;
  hasPatchedStreams = true;
  patchStream(process.stdout, 1);
  patchStream(process.stderr, 2);
}

function patchStream(stream: NodeJS.WriteStream, fd: 1 | 2): void {
  stream.write = ((chunk: string | Uint8Array, encoding?: unknown, callback?: unknown) => {
    beginOutput();
    const bytes = typeof chunk === "string" ? Buffer.from(chunk, encodingOf(encoding)) : chunk;
    writeAll(fd, bytes);
    const done = typeof encoding === "function" ? encoding : callback;
    if (typeof done === "function") process.nextTick(done as () => void);
    return true;
  }) as typeof stream.write;
}

function encodingOf(given: unknown): BufferEncoding {
  return typeof given === "string" ? (given as BufferEncoding) : "utf8";
}

/**
 * Makes the pipes blocking. Bun opens them non-blocking, as programs may do, and a shell or Python would fail with EAGAIN when printing
 * faster than the server reads.
 */
export function makeOutputBlocking(): void {
  for (const fd of [1, 2]) {
    const flags = libc?.fcntl(fd, F_GETFL, 0) ?? -1;
    if (flags >= 0) libc?.fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
  }
}
makeOutputBlocking();

/**
 * Writes end marks to the pipes that need them.
 * @param all write them to both pipes, because another process has printed
 * @returns which pipes: 1 for stdout, 2 for stderr, 3 for both, 0 if the server has read everything
 */
export function writeEndMarks(nonce: string, all: boolean): number {
  const fence = all || printed || !libc ? 3 : findUnreadPipe(1) | findUnreadPipe(2);
  printed = false;
  if (fence !== 0) {
    const mark = `\0${nonce}\0`;
    if (fence & 1) writeAll(1, Buffer.from(mark));
    if (fence & 2) writeAll(2, Buffer.from(mark));
  }
  return fence;
}

function writeAll(fd: number, bytes: Uint8Array): void {
  for (let at = 0; at < bytes.length; ) {
    try {
      const written = files ? files.write(fd, ptr(bytes, at), bytes.length - at) : -1;
      // The second call names the error.
      at += written < 0 ? nodeFs().writeSync(fd, bytes, at) : written;
    } catch (cause) {
      if ((cause as { code?: string }).code !== "EAGAIN") return;
    }
  }
}
