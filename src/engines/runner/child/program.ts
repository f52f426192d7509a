/**
 * The program of a child. It travels inside the executable as text, with the files beside it that it is made of, and is
 * written to the data directory at start. A blank child waits for `load` (become one script version, for life) or `exec`
 * (become a shell or Python). Everything the server must be able to trust is settled before any of the user's code is
 * loaded.
 */

import type { ParameterBinding } from "../../languages/types.ts";
import type { Done, Load, Referred, Run, ToChild } from "../protocol.ts";
import type { JobError } from "../types.ts";
import { become } from "./become.ts";
import { send } from "./channel.ts";
import { toError } from "./error.ts";
import { parseExactly } from "./exact.ts";
import { emptyFolder, hasFiles } from "./folder.ts";
import { markEnd } from "./output.ts";
import { drain, isStream, toJson } from "./result.ts";
import { hasLeftovers } from "./system.ts";
import { renewInNodeHttp, useToken } from "./token.ts";

/** How long an orphan waits for the watchdog before it ends by itself. */
const ORPHAN_MS = 5_000;

const exit = process.exit.bind(process);

let loaded: { module: Record<string, unknown>; load: Load } | undefined;
/** Takes no second job: it would not find the files that loading the script has left. */
let isOnce = false;
let hasRun = false;
let isSecondJobReady = false;
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
process.on("uncaughtException", (cause) => failRunning?.(toError(cause, loaded?.load)));
process.on("unhandledRejection", (cause) => failRunning?.(toError(cause, loaded?.load)));
process.send = undefined;
send({ t: "blank" });

async function load(message: Load): Promise<void> {
  Object.assign(process.env, message.environment);
  useToken(message.environment.WM_TOKEN);
  try {
    loaded = open(await import(message.file), message);
    isOnce = message.once || hasFiles();
    send({ t: "loaded" });
  } catch (cause) {
    loaded = { module: {}, load: message };
    send({ t: "load_failed", error: toError(cause, message) });
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
  useToken(message.environment.WM_TOKEN);
  const outcome: Partial<Done> = {};
  let settled = false;
  const finish = (done: Partial<Done>) => {
    if (settled) return;
    settled = true;
    failRunning = undefined;
    finishNow(done, message);
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
    if (hasRun && !emptyFolder(message.shared)) throw notEmpty();
    hasRun = true;
    await call(message, outcome);
    finish(outcome);
  } catch (cause) {
    fail(toError(cause, loaded?.load));
  }
}

function finishNow(outcome: Partial<Done>, { shared }: Run): void {
  const fence = markEnd(loaded!.load.nonce);
  const leftovers = isOnce || hasLeftovers() || !emptyFolder(shared);
  send({ t: "done", ...outcome, fence, leftovers });
  if (!leftovers && !isSecondJobReady) {
    isSecondJobReady = true;
    if (loaded!.load.requests) renewInNodeHttp();
  }
}

function notEmpty(): Error {
  const message = "what the job before left in its folder could not be removed";
  return Object.assign(new Error(message), { name: "ExecutionErr", stack: "" });
}

async function call(message: Run, outcome: Partial<Done>): Promise<void> {
  const { module, load: version } = loaded!;
  let text = message.args;
  if (message.preprocessor_input !== undefined) {
    text = await preprocess(message.preprocessor_input, message.max_result);
    outcome.preprocessed_args = text;
    text = await withoutReferences(text);
  }
  const args = argumentsOf(text, version);
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

/** A query hands on what it is given; code reckons with it. */
function argumentsOf(text: string, { source }: Load): Record<string, unknown> {
  return (source === undefined ? JSON.parse(text) : parseExactly(text)) as Record<string, unknown>;
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
