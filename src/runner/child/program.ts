/**
 * The program of a child. Self-contained: it travels inside the executable as text and is written to the data
 * directory at start. A blank child waits for `load` (become one script version, for life) or `exec` (become a shell
 * or Python). Everything the server must be able to trust is settled before any of the user's code is loaded.
 */
import { dlopen, type Pointer, ptr } from "bun:ffi";
import { writeSync } from "node:fs";
import type { Done, Exec, FromChild, Load, Referred, Run, ToChild } from "../protocol.ts";
import type { JobError, ParameterBinding } from "../types.ts";

const PR_SET_CHILD_SUBREAPER = 36;
const FIONREAD = 0x541b;
const F_SETFD = 2;
const FD_CLOEXEC = 1;
const F_GETFL = 3;
const F_SETFL = 4;
const O_NONBLOCK = 0o4000;
const P_ALL = 0;
const WNOHANG_WEXITED_WNOWAIT = 1 | 4 | 0x01000000;
const SCHED_BATCH = 3;
const SIGPIPE = 13;
const SIGXFSZ = 25;
/** Most characters of an error's message, and of its stack. */
const MAX_ERROR = 100_000;
/** How long an orphan waits for the watchdog before it ends by itself. */
const ORPHAN_MS = 5_000;

const libc = openLibc();
const buffer = new Uint8Array(256);
const channelFd = Number(process.env.NODE_CHANNEL_FD ?? 3);
const send = process.send!.bind(process) as (message: FromChild) => void;
const exit = process.exit.bind(process);

/** Linux only: elsewhere process groups have to do. */
function openLibc() {
  if (process.platform !== "linux") return undefined;
  for (const name of ["libc.so.6", `libc.musl-${process.arch === "arm64" ? "aarch64" : "x86_64"}.so.1`]) {
    try {
      return dlopen(name, {
        prctl: { args: ["i32", "u64", "u64", "u64", "u64"], returns: "i32" },
        waitid: { args: ["i32", "i32", "ptr", "i32"], returns: "i32" },
        ioctl: { args: ["i32", "u64", "ptr"], returns: "i32" },
        fcntl: { args: ["i32", "i32", "i32"], returns: "i32" },
        signal: { args: ["i32", "u64"], returns: "u64" },
        execve: { args: ["ptr", "ptr", "ptr"], returns: "i32" },
        sched_setscheduler: { args: ["i32", "i32", "ptr"], returns: "i32" },
        memfd_create: { args: ["ptr", "u32"], returns: "i32" },
      }).symbols;
    } catch {}
  }
  return undefined;
}

// What the user's code starts stays below this process, also what tries to get away: it is found and ended from here.
libc?.prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);

// A job that is handed over must not take the processor from the server that is handing it over (sched(7)): it waits
// for its turn, which on another core, or as soon as the server waits, is at once.
libc?.sched_setscheduler(0, SCHED_BATCH, ptr(new Int32Array(1)));

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

let loaded: { module: Record<string, unknown>; load: Load } | undefined;
let failRunning: ((error: JobError) => void) | undefined;
let onReferred: ((message: Referred) => void) | undefined;

process.on("message", (message: ToChild) => {
  if (message.t === "run") void run(message);
  else if (message.t === "stop") void stop();
  else if (message.t === "referred") onReferred?.(message);
  else if (message.t === "load") void load(message);
  else become(message);
});
process.on("disconnect", () => setTimeout(() => exit(1), ORPHAN_MS));
process.on("uncaughtException", (cause) => failRunning?.(toError(cause)));
process.on("unhandledRejection", (cause) => failRunning?.(toError(cause)));
process.send = undefined;
send({ t: "blank" });

async function load(message: Load): Promise<void> {
  Object.assign(process.env, message.environment);
  try {
    loaded = open(await import(message.file), message);
    send({ t: "loaded" });
  } catch (cause) {
    loaded = { module: {}, load: message };
    send({ t: "load_failed", error: toError(cause) });
  }
}

/** A query's module makes main out of its text, and takes the arguments as they are. */
function open(module: Record<string, unknown>, load: Load): NonNullable<typeof loaded> {
  if (load.source === undefined) return { module, load };
  const { openQuery } = module as { openQuery: (source: string, parameters: ParameterBinding[]) => object };
  const query = openQuery(load.source, load.parameters) as Record<string, unknown>;
  return { module: query, load: { ...load, parameters: [{ name: "args", kind: "whole" }] } };
}

/** Ends what the job has others do. */
async function stop(): Promise<void> {
  const end = loaded?.load.source === undefined ? undefined : loaded.module.stop;
  if (typeof end === "function") await end();
  send({ t: "stopped" });
}

async function run(message: Run): Promise<void> {
  Object.assign(process.env, message.environment);
  const outcome: Partial<Done> = {};
  let settled = false;
  const finish = (done: Partial<Done>) => {
    if (settled) return;
    settled = true;
    failRunning = undefined;
    finishNow(done);
  };
  const fail = (error: JobError) => {
    const { preprocessed_args } = outcome;
    if (message.preprocessor_input !== undefined && preprocessed_args === undefined) {
      error.message = `the preprocessor failed: ${error.message}`;
    }
    finish({ error, preprocessed_args });
  };
  failRunning = fail;
  try {
    await call(message, outcome);
    finish(outcome);
  } catch (cause) {
    fail(toError(cause));
  }
}

function finishNow(outcome: Partial<Done>): void {
  const fence = printed || !libc ? 3 : pending(1) | pending(2);
  printed = false;
  if (fence !== 0) {
    const mark = `\0${loaded!.load.nonce}\0`;
    if (fence & 1) writeAll(1, Buffer.from(mark));
    if (fence & 2) writeAll(2, Buffer.from(mark));
  }
  send({ t: "done", ...outcome, fence, leftovers: hasLeftovers() });
}

/** 1 for stdout, 2 for stderr when the server has not read everything yet, else 0. */
function pending(fd: 1 | 2): number {
  libc!.ioctl(fd, FIONREAD, ptr(buffer));
  return buffer[0] || buffer[1] || buffer[2] || buffer[3] ? fd : 0;
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

/** A subreaper without any child has left nothing behind: one system call proves it. */
function hasLeftovers(): boolean {
  return libc !== undefined && libc.waitid(P_ALL, 0, ptr(buffer), WNOHANG_WEXITED_WNOWAIT) === 0;
}

async function call(message: Run, outcome: Partial<Done>): Promise<void> {
  const { module, load: version } = loaded!;
  let text = message.args;
  if (message.preprocessor_input !== undefined) {
    text = await preprocess(message.preprocessor_input, message.max_result);
    outcome.preprocessed_args = text;
    text = await withoutReferences(text);
  }
  const args = JSON.parse(text) as Record<string, unknown>;
  const main = functionNamed(module, message.entrypoint);
  const began = performance.now();
  let value = main(...bind(version.parameters, args));
  if (typeof (value as Promise<unknown> | undefined)?.then === "function") value = await value;
  outcome.result = isStream(value)
    ? await drain(value, message.max_result)
    : toJson(value, message.max_result);
  // Asking the system costs more than a short job does.
  if (performance.now() - began > 50) outcome.mem_peak_kb = process.resourceUsage().maxRSS;
}

/** @returns main's arguments as JSON text: what is stored of them is what main is given */
async function preprocess(input: string, limit: number): Promise<string> {
  const { module, load: version } = loaded!;
  const preprocessor = functionNamed(module, "preprocessor");
  const value = await preprocessor(...bind(version.preprocessor_parameters ?? [], JSON.parse(input)));
  const text = toJson(value, limit, "it");
  if (text.startsWith("{")) return text;
  const message = `it must return an object, the arguments of main, and returned ${text.slice(0, 100)}`;
  throw Object.assign(new Error(message), { name: "InvalidPreprocessorResult", stack: "" });
}

/** The server, which may read what they lead to, follows them. @param args JSON text */
function withoutReferences(args: string): Promise<string> {
  if (!args.includes('"$') && !args.includes("\\u0024")) return Promise.resolve(args);
  return new Promise((resolve, reject) => {
    onReferred = ({ args: plain, error }) => {
      onReferred = undefined;
      if (plain !== undefined) resolve(plain);
      else reject(Object.assign(new Error(error?.message), { name: error?.name, stack: "" }));
    };
    send({ t: "refer", args });
  });
}

function functionNamed(module: Record<string, unknown>, name: string): (...args: unknown[]) => unknown {
  const found = module[name];
  if (typeof found === "function") return found as (...args: unknown[]) => unknown;
  throw Object.assign(new Error(`the script exports no function \`${name}\``), {
    name: "MissingFunction",
    stack: "",
  });
}

function bind(parameters: ParameterBinding[], args: Record<string, unknown>): unknown[] {
  const values: unknown[] = [];
  for (const { name, kind, is_date, is_bytes } of parameters) {
    const value = args[name];
    if (kind === "whole") values.push(args);
    else if (kind === "rest") values.push(...(Array.isArray(value) ? value : []));
    else if (is_date && typeof value === "string") values.push(new Date(value));
    else if (is_bytes && typeof value === "string") values.push(Buffer.from(value, "base64"));
    else values.push(value);
  }
  return values;
}

type AnyIterable = AsyncIterable<unknown> | Iterable<unknown>;

/** Generators, iterators and readable streams; data that merely can be iterated is a result. */
function isStream(value: unknown): value is AnyIterable | Response {
  if (typeof value !== "object" || value === null) return false;
  if (value instanceof Response) return value.body !== null;
  if (Symbol.asyncIterator in value) return true;
  return Symbol.iterator in value && typeof (value as { next?: unknown }).next === "function";
}

/**
 * Hands on what a stream yields, piece by piece: text as it is, bytes as UTF-8, anything else as a line of JSON.
 * @returns the result beside the stream, JSON text: nothing, since the server has the whole; an empty stream is ""
 */
async function drain(value: AnyIterable | Response, limit: number): Promise<string> {
  const source = value instanceof Response ? (value.body as unknown as AsyncIterable<unknown>) : value;
  const decoder = new TextDecoder();
  let size = 0;
  const tell = (text: string) => {
    size += text.length;
    if (size > limit) throw tooLarge(size, limit);
    if (text !== "") send({ t: "stream", text });
  };
  for await (const piece of source) {
    if (typeof piece === "string") tell(piece);
    else if (piece instanceof Uint8Array) tell(decoder.decode(piece, { stream: true }));
    else if (piece !== undefined && piece !== null) tell(`${toJson(piece, limit)}\n`);
  }
  tell(decoder.decode());
  return size === 0 ? '""' : "null";
}

/**
 * @param who made the value, for the message
 * @throws what is wrong with a value that is no JSON, or too large
 */
function toJson(value: unknown, limit: number, who = "main"): string {
  if (value === undefined) return "null";
  const kind = typeof value === "object" && value !== null ? value.constructor?.name : typeof value;
  if (kind === "function" || kind === "symbol" || kind === "Map" || kind === "Set" || kind === "WeakMap") {
    throw notJson(`${who} returned a ${kind}`);
  }
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    const reason = (cause as Error).message.replace(/^JSON.stringify |\.$/g, "");
    throw notJson(`${who} returned a value that cannot be written down (${reason})`);
  }
  if (text === undefined) throw notJson(`${who} returned a value without a JSON form`);
  // Characters are at least a byte: the exact count is only taken near the limit.
  if (text.length > limit || (text.length * 3 > limit && Buffer.byteLength(text) > limit)) {
    throw tooLarge(Buffer.byteLength(text), limit);
  }
  return text;
}

function tooLarge(bytes: number, limit: number): Error {
  const [size, most] = [Math.ceil(bytes / 1_000_000), Math.floor(limit / 1_000_000)];
  return Object.assign(new Error(`the result is ${size} MB, more than the ${most} MB allowed`), {
    name: "ResultTooLarge",
    stack: "",
  });
}

function notJson(message: string): Error {
  return Object.assign(
    new Error(`${message}, which is not JSON: return plain objects, arrays, strings, numbers`),
    {
      name: "ResultNotSerializable",
      stack: "",
    },
  );
}

function toError(cause: unknown): JobError {
  if (!(cause instanceof Error)) {
    const message = typeof cause === "string" ? cause : (safeJson(cause) ?? String(cause));
    return { name: "Error", message: message.slice(0, MAX_ERROR) };
  }
  const name = String(cause.name).slice(0, MAX_ERROR);
  const error: JobError = { name, message: (cause.message || String(cause)).slice(0, MAX_ERROR) };
  const stack = userFrames((cause.stack ?? "").slice(0, MAX_ERROR));
  if (stack) error.stack = stack;
  const extra: Record<string, unknown> = {};
  for (const key of Object.keys(cause)) {
    if (key !== "name" && key !== "message" && key !== "stack")
      extra[key] = (cause as unknown as Record<string, unknown>)[key];
  }
  const text = Object.keys(extra).length > 0 ? safeJson(extra) : undefined;
  if (text && text.length <= MAX_ERROR) error.extra = JSON.parse(text);
  // What the bundler says of a file that does not parse stands in `errors` of an AggregateError.
  if (cause instanceof AggregateError)
    error.message = (error.message + cause.errors.map((each) => `\n${String(each)}`).join("")).slice(
      0,
      MAX_ERROR,
    );
  return error;
}

function safeJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

function userFrames(stack: string): string {
  const version = loaded?.load;
  if (!version) return stack;
  return stack
    .split("\n")
    .filter((line) => !line.includes(version.runtime) && !/\(?native:|processTicksAndRejections/.test(line))
    .join("\n")
    .replaceAll(version.file, version.display)
    .trim();
}

/**
 * Stores the prelude of a shell where only this user's processes can read it (memfd_create(2)), with a last command that
 * lets go of it. @returns the path that leads to it
 */
function inMemory(name: Pointer, prelude: string): string {
  const fd = libc!.memfd_create(name, 0);
  const bytes = Buffer.from(`${prelude}\nexec ${fd}<&-\n`);
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at, bytes.length - at, at);
  return `/proc/self/fd/${fd}`;
}

/** Turns this process into another program: same process, same pipes, no new start. */
function become(message: Exec): void {
  if (!libc) {
    send({ t: "load_failed", error: { name: "ExecutionErr", message: "only Linux runs this language" } });
    return;
  }
  const held: Uint8Array[] = [];
  const text = (value: string): Pointer => {
    const bytes = Buffer.from(`${value}\0`);
    held.push(bytes);
    return ptr(bytes);
  };
  const list = (values: string[]): Pointer => {
    const pointers = new BigUint64Array(values.length + 1);
    values.forEach((value, index) => {
      pointers[index] = BigInt(text(value));
    });
    held.push(new Uint8Array(pointers.buffer));
    return ptr(pointers);
  };
  // Ignored signals stay ignored across execve; shells expect these two at their default.
  libc.signal(SIGPIPE, 0);
  libc.signal(SIGXFSZ, 0);
  libc.fcntl(channelFd, F_SETFD, message.keep_channel ? 0 : FD_CLOEXEC);
  const environment = {
    ...message.environment,
    ...(message.keep_channel ? { SVC_CHANNEL_FD: String(channelFd) } : {}),
    ...(message.prelude === undefined ? {} : { BASH_ENV: inMemory(text("prelude"), message.prelude) }),
  };
  const pairs = Object.entries(environment).map(([name, value]) => `${name}=${value}`);
  libc.execve(text(message.program), list(message.argv), list(pairs));
  send({
    t: "load_failed",
    error: { name: "ExecutionErr", message: `${message.program} could not be started` },
  });
}
