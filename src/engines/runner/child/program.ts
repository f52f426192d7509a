/**
 * Program of a TypeScript child. It is embedded in the executable as text, with its neighbouring files, and written to
 * the data directory at start. A blank child waits for `load` (become one script version for life) or `exec` (become
 * Python or a tool). Everything the server relies on is set up before user code is loaded.
 */

import type { ParameterBinding } from "../../languages/types.ts";
import type { Done, Load, ReferenceReply, Run, ToChild } from "../protocol.ts";
import type { JobError } from "../types.ts";
import { replaceProcess } from "./become.ts";
import { sendToServer } from "./channel.ts";
import { toJobError } from "./error.ts";
import { parseExactly } from "./exact.ts";
import { clearFolder, hasFiles } from "./folder.ts";
import { type Host, openHost } from "./host.ts";
import { announceOutput, patchStreams, writeEndMarks } from "./output.ts";
import { isStream, streamResult } from "./result.ts";
import { hasLeftovers, nodeFs } from "./system.ts";
import { patchNodeHttp, setToken } from "./token.ts";
import { toJson } from "./wrappers/to-json.ts";

/** Time that an orphan waits for the watchdog before it exits by itself. */
const ORPHAN_TIMEOUT_MS = 5_000;

/** A process that is replaced by Python or a tool is notified before this delay has passed. */
const PATCH_DELAY_MS = 20;

/** After a result longer than this, prefetched runs do not start. */
const MAX_AHEAD_CHARACTERS = 30_000;

// Captured early, because user code may replace functions of the process.
const exit = process.exit.bind(process);
const now = performance.now.bind(performance);

let loaded: { module: Record<string, unknown>; load: Load } | undefined;
/** Runs jobs in separate processes. */
let host: Host | undefined;
/**
 * Whether the process must not take a second job, because loading the script created files that a second job would
 * not find.
 */
let runsOnce = false;
let hasRun = false;
/** Whether the previous job had a folder at `./shared`, whose link may remain. */
let hadShared = false;
let isSecondJobReady = false;
let failRunning: ((error: JobError) => void) | undefined;
let onReferred: ((message: ReferenceReply) => void) | undefined;

process.on("message", (message: ToChild) => {
  if (message.t === "run") enqueue(message);
  else if (message.t === "recall")
    sendToServer({ t: "recalled", number: message.number, count: dropQueue() });
  else if (message.t === "stop") void stop();
  else if (message.t === "referred") onReferred?.(message);
  else if (message.t === "load") void load(message);
  else replaceProcess(message);
});
process.on("disconnect", () => setTimeout(() => exit(1), ORPHAN_TIMEOUT_MS));
process.on("uncaughtException", (cause) => failRunning?.(toJobError(cause, loaded?.load)));
process.on("unhandledRejection", (cause) => failRunning?.(toJobError(cause, loaded?.load)));
process.send = undefined;
sendToServer({ t: "blank" });
const patching = setTimeout(patchStreams, PATCH_DELAY_MS);

/** Runs that have not started. */
const queue: Run[] = [];
/** Variables of dropped runs: the next run's variables are relative to them. */
let skipped: Record<string, string> = {};
let isRunning = false;
/** Whether the process takes no further job. */
let isSpent = false;

function enqueue(message: Run): void {
  queue.push(message);
  if (!isRunning) runNext(false);
}

/** Runs the next job in the queue, if any. @param isAhead whether no other code has run since the previous job ended */
function runNext(isAhead: boolean): void {
  const next = isSpent ? undefined : queue.shift();
  isRunning = next !== undefined;
  if (!next) return;
  // The server may not have read the end of the previous job yet, even if this process has been idle since.
  announceOutput(next.ahead ? loaded!.load.nonce : undefined, next.sequence);
  void run(next, isAhead);
}

/** Drops all runs that have not started. @returns their number */
function dropQueue(): number {
  const dropped = queue.splice(0);
  for (const { environment } of dropped) Object.assign(skipped, environment);
  return dropped.length;
}

async function load(message: Load): Promise<void> {
  Object.assign(process.env, message.environment);
  setToken(message.environment.WM_TOKEN);
  clearTimeout(patching);
  try {
    if (message.program) {
      loaded = { module: {}, load: message };
      host = openHost(message, message.program);
    } else {
      if (message.modules) {
        nodeFs();
        patchStreams();
      }
      loaded = toLoaded(await import(message.file), message);
    }
    runsOnce = message.once || hasFiles();
    sendToServer({ t: "loaded" });
    host?.prepare();
  } catch (cause) {
    loaded = { module: {}, load: message };
    sendToServer({ t: "load_failed", error: toJobError(cause, message) });
  }
}

/** Returns the loaded module; a query's module creates main from its text and takes the arguments as they are. */
function toLoaded(module: Record<string, unknown>, load: Load): NonNullable<typeof loaded> {
  if (load.source === undefined) return { module, load };
  const { openQuery } = module as { openQuery: (source: string, parameters: ParameterBinding[]) => object };
  const query = openQuery(load.source, load.parameters) as Record<string, unknown>;
  return { module: query, load: { ...load, parameters: [{ name: "args", kind: "whole" }] } };
}

/** Stops work that the job runs in other processes. */
async function stop(): Promise<void> {
  const end = loaded?.load.source === undefined ? undefined : loaded.module.stop;
  if (typeof end === "function") await end();
  sendToServer({ t: "stopped" });
}

/**
 * Runs one job and sends its answer.
 * @param isAhead true if no code has run since the previous job was found to have left no files
 */
async function run(message: Run, isAhead: boolean): Promise<void> {
  Object.assign(process.env, skipped, message.environment);
  skipped = {};
  setToken(message.environment.WM_TOKEN);
  const began = now();
  const outcome: Partial<Done> = {};
  let settled = false;
  const finish = (done: Partial<Done>) => {
    if (settled) return;
    settled = true;
    failRunning = undefined;
    sendDone(done, Math.round((now() - began) * 100) / 100, message);
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
    const isEmpty = isAhead && !hadShared && message.shared === undefined;
    if (hasRun && !isEmpty && !clearFolder(message.shared)) throw folderNotEmptyError();
    hasRun = true;
    hadShared = message.shared !== undefined;
    if (host) Object.assign(outcome, await host.run(message));
    else await callMain(message, outcome);
    finish(outcome);
  } catch (cause) {
    fail(toJobError(cause, loaded?.load));
  }
}

function sendDone(outcome: Partial<Done>, ran_ms: number, { shared, sequence }: Run): void {
  // A system call would cost more than a short job.
  if (ran_ms > 50 && !host) outcome.mem_peak_kb = process.resourceUsage().maxRSS;
  const fence = writeEndMarks(loaded!.load.nonce, host !== undefined);
  const leftovers = runsOnce || hasLeftovers() || !clearFolder(shared);
  isSpent = leftovers;
  // A long answer may still be in this process when the next job terminates it.
  const isLong = (outcome.result?.length ?? 0) > MAX_AHEAD_CHARACTERS;
  const dropped = isLong || isSpent ? dropQueue() : 0;
  sendToServer({
    t: "done",
    sequence,
    ...outcome,
    ran_ms,
    fence,
    leftovers,
    ...(dropped > 0 && { dropped }),
  });
  if (!leftovers && !isSecondJobReady) {
    isSecondJobReady = true;
    if (loaded!.load.requests) patchNodeHttp();
  }
  runNext(true);
  if (host && !leftovers) setImmediate(host.prepare);
}

function folderNotEmptyError(): Error {
  const message = "what the job before left in its folder could not be removed";
  return Object.assign(new Error(message), { name: "ExecutionErr", stack: "" });
}

async function callMain(message: Run, outcome: Partial<Done>): Promise<void> {
  const { module, load: version } = loaded!;
  let text = message.args;
  if (message.preprocessor_input !== undefined) {
    text = await preprocess(message.preprocessor_input, message.max_result);
    outcome.preprocessed_args = text;
    text = await requestResolved(text);
  }
  const args = argumentsOf(text, version);
  const main = requireFunction(module, message.entrypoint);
  let value = main(...bindArguments(version.parameters, args));
  if (typeof (value as Promise<unknown> | undefined)?.then === "function") value = await value;
  outcome.result = isStream(value)
    ? await streamResult(value, message.max_result)
    : toJson(value, message.max_result);
}

/** Parses the arguments: exactly for queries, which pass them on; as plain numbers for code. */
function argumentsOf(text: string, { source }: Load): Record<string, unknown> {
  return (source === undefined ? JSON.parse(text) : parseExactly(text)) as Record<string, unknown>;
}

/** Runs the preprocessor. @returns main's arguments as JSON text, which is both stored and passed to main */
async function preprocess(input: string, limit: number): Promise<string> {
  const { module, load: version } = loaded!;
  const preprocessor = requireFunction(module, "preprocessor");
  const value = await preprocessor(
    ...bindArguments(version.preprocessor_parameters ?? [], JSON.parse(input)),
  );
  const text = toJson(value, limit, "it");
  if (text.startsWith("{")) return text;
  const message = `it must return an object, the arguments of main, and returned ${text.slice(0, 100)}`;
  throw Object.assign(new Error(message), { name: "InvalidPreprocessorResult", stack: "" });
}

/** Asks the server, which has the necessary rights, to resolve references. @param args JSON text */
function requestResolved(args: string): Promise<string> {
  if (!args.includes('"$') && !args.includes("\\u0024")) return Promise.resolve(args);
  return new Promise((resolve, reject) => {
    onReferred = ({ args: plain, error }) => {
      onReferred = undefined;
      if (plain !== undefined) resolve(plain);
      else reject(Object.assign(new Error(error?.message), { name: error?.name, stack: "" }));
    };
    sendToServer({ t: "refer", args });
  });
}

function requireFunction(module: Record<string, unknown>, name: string): (...args: unknown[]) => unknown {
  const found = module[name];
  if (typeof found === "function") return found as (...args: unknown[]) => unknown;
  throw Object.assign(new Error(`the script exports no function \`${name}\``), {
    name: "MissingFunction",
    stack: "",
  });
}

function bindArguments(parameters: ParameterBinding[], args: Record<string, unknown>): unknown[] {
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
