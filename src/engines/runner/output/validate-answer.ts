/** Validates a child's answer. User code can write to the channel too, so nothing in it is trusted. */

import { isTooDeep, MAX_JSON_DEPTH, NestedTooDeeply } from "../../../lib/json/depth.ts";
import { parseJson } from "../../../lib/json/json.ts";
import { LONG_JSON_CHARACTERS, validateLongJson } from "../../../lib/json/long-json.ts";
import type { Done } from "../protocol.ts";
import type { ChildExit } from "../types.ts";

const TOO_DEEP = `JSON nested deeper than the ${MAX_JSON_DEPTH} levels that a result may have`;

/**
 * Maximum length of an error as JSON: a child truncates its parts to 100,000 characters, each at most six when escaped.
 */
const MAX_ERROR_CHARACTERS = 4_000_000;
/** Range of the database's integer. */
const MAX_MEMORY_KB = 2 ** 31 - 1;

/** Message size beside results. */
const MAX_OVERHEAD_BYTES = 2 * MAX_ERROR_CHARACTERS;

/** Returns the maximum size of a child's message: a result and a preprocessor's result, each as JSON within JSON. */
export function computeMaxMessageBytes(max_result: number): number {
  return 4 * max_result + MAX_OVERHEAD_BYTES;
}

/** Whether an answer must be validated in time slices, by `findLongAnswerFault`. */
export function isLongAnswer({ result, preprocessed_args }: Done): boolean {
  return isLong(result) || isLong(preprocessed_args);
}

/** Like `findAnswerFault`, for an answer with long JSON. */
export async function findLongAnswerFault(message: Done, max_result: number): Promise<string | undefined> {
  for (const text of [message.result, message.preprocessed_args]) {
    if (!isLong(text) || isLonger(text, max_result)) continue;
    const fault = await validateLongJson(text).then(
      () => undefined,
      (cause) => (cause instanceof NestedTooDeeply ? TOO_DEEP : "something that is not a result"),
    );
    if (fault !== undefined) return fault;
  }
  return findAnswerFault(message, max_result);
}

function isLong(text: unknown): text is string {
  return typeof text === "string" && text.length > LONG_JSON_CHARACTERS;
}

/** Returns why an answer is invalid, continuing "the script's process answered"; undefined if it is valid. */
export function findAnswerFault(message: Done, max_result: number): string | undefined {
  for (const text of [message.result, message.preprocessed_args]) {
    if (typeof text === "string" && !isLong(text) && isTooDeep(text)) return TOO_DEEP;
  }
  if (!isDone(message)) return "something that is not a result";
  for (const text of [message.result, message.preprocessed_args]) {
    if (text !== undefined && isLonger(text, max_result)) return "more than a result may be";
  }
  return undefined;
}

/** Whether a value from a child is a count: a non-negative integer. */
export function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) >= 0;
}

function isDone(done: Done): boolean {
  const { result, error, preprocessed_args, fence, mem_peak_kb, exit, ran_ms, dropped } = done;
  if (exit !== undefined && !isExit(exit)) return false;
  if (mem_peak_kb !== undefined && !(isCount(mem_peak_kb) && mem_peak_kb <= MAX_MEMORY_KB)) return false;
  if (ran_ms !== undefined && !(Number.isFinite(ran_ms) && ran_ms >= 0)) return false;
  if (dropped !== undefined && !isCount(dropped)) return false;
  if (typeof fence !== "number" || fence < 0 || fence > 3) return false;
  if (error !== undefined && !isError(error)) return false;
  if (preprocessed_args !== undefined && !isObject(preprocessed_args)) return false;
  return result === undefined || isJson(result);
}

function isExit(exit: Done["exit"]): boolean {
  const { code, signal } = Object(exit) as ChildExit;
  return (code === null || Number.isInteger(code)) && (signal === null || /^SIG\w{1,20}$/.test(signal));
}

function isError(error: Done["error"]): boolean {
  if (typeof error?.name !== "string" || typeof error.message !== "string") return false;
  try {
    return JSON.stringify(error).length <= MAX_ERROR_CHARACTERS;
  } catch {
    return false;
  }
}

function isObject(text: unknown): boolean {
  return isJson(text) && (text as string).startsWith("{");
}

function isJson(text: unknown): boolean {
  if (typeof text !== "string") return false;
  if (isLong(text)) return true;
  try {
    parseJson(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Whether a text is longer than `limit` bytes. A character is at least one byte, so the exact size is computed only
 * near the limit.
 */
function isLonger(text: string, limit: number): boolean {
  return text.length > limit || (text.length * 3 > limit && Buffer.byteLength(text) > limit);
}
