/** What the job prints: it is out when the function that prints it returns, and its end is marked where that is needed. */
import { writeSync } from "node:fs";
import { libc, pending } from "./system.ts";

const F_GETFL = 3;
const F_SETFL = 4;
const O_NONBLOCK = 0o4000;

/**
 * Whether the job has printed. What the server has taken out of a pipe may reach its job after this process's answer
 * does, so a job that printed ends its output with a mark; what bypasses these functions is seen in the pipe.
 */
let printed = false;
for (const [name, original] of Object.entries(console)) {
  if (typeof original !== "function" || name === "Console") continue;
  (console as unknown as Record<string, unknown>)[name] = function (this: unknown, ...values: unknown[]) {
    printed = true;
    return (original as (...values: unknown[]) => unknown).apply(this, values);
  };
}
// The streams' own writes are behind when a job ends and do not say so; these are done when they return, as Node's are.
for (const [stream, fd] of [
  [process.stdout, 1],
  [process.stderr, 2],
] as const) {
  stream.write = ((chunk: string | Uint8Array, encoding?: unknown, callback?: unknown) => {
    printed = true;
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
 * Bun opens its pipes for itself without blocking; a shell or Python, which know nothing of that, would be refused
 * what they print faster than it is read. Programs print to a pipe that makes them wait.
 */
function makeOutputBlocking(): void {
  for (const fd of [1, 2]) {
    const flags = libc?.fcntl(fd, F_GETFL, 0) ?? -1;
    if (flags >= 0) libc?.fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);
  }
}
makeOutputBlocking();

/**
 * Marks the end of the job's output in the pipes that need it.
 * @returns which: 1 for stdout, 2 for stderr, 3 for both, 0 when the server has read all there is
 */
export function markEnd(nonce: string): number {
  const fence = printed || !libc ? 3 : pending(1) | pending(2);
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
      at += writeSync(fd, bytes, at);
    } catch (cause) {
      if ((cause as { code?: string }).code !== "EAGAIN") return;
    }
  }
}
