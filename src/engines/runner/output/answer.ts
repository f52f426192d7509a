/** What a child says came of its job. User code can write to the channel too, so it is taken only when it can be. */

import { isTooDeep, MAX_JSON_DEPTH, NestedTooDeeply } from "../../../lib/json/depth.ts";
import { parseJson } from "../../../lib/json/json.ts";
import { checkLong, LONG } from "../../../lib/json/long.ts";
import type { Done } from "../protocol.ts";

const TOO_DEEP = `JSON nested deeper than the ${MAX_JSON_DEPTH} levels that a result may have`;

/** Most characters of an error as JSON: a child cuts each part of one at 100,000, of which each may be written as six. */
const MAX_ERROR = 4_000_000;
/** As many as the database's integers are large. */
const MAX_KB = 2 ** 31 - 1;

/** What is in a message beside results. */
const SPARE_BYTES = 2 * MAX_ERROR;

/** Most bytes of a child's message: a result, and what a preprocessor made, each as JSON in JSON. */
export function maxMessageBytes(max_result: number): number {
  return 4 * max_result + SPARE_BYTES;
}

/** Whether an answer is looked at in slices: by `faultOfLong`. */
export function isLongAnswer({ result, preprocessed_args }: Done): boolean {
  return isLong(result) || isLong(preprocessed_args);
}

/** The same as `faultOf`, for an answer with long JSON. */
export async function faultOfLong(message: Done, max_result: number): Promise<string | undefined> {
  for (const text of [message.result, message.preprocessed_args]) {
    if (!isLong(text) || isLonger(text, max_result)) continue;
    const fault = await checkLong(text).then(
      () => undefined,
      (cause) => (cause instanceof NestedTooDeeply ? TOO_DEEP : "what is no result"),
    );
    if (fault !== undefined) return fault;
  }
  return faultOf(message, max_result);
}

function isLong(text: unknown): text is string {
  return typeof text === "string" && text.length > LONG;
}

/** Why an answer is none, as a continuation of "the script's process answered"; undefined when it is one. */
export function faultOf(message: Done, max_result: number): string | undefined {
  for (const text of [message.result, message.preprocessed_args]) {
    if (typeof text === "string" && !isLong(text) && isTooDeep(text)) return TOO_DEEP;
  }
  if (!isDone(message)) return "what is no result";
  for (const text of [message.result, message.preprocessed_args]) {
    if (text !== undefined && isLonger(text, max_result)) return "more than a result may be";
  }
  return undefined;
}

function isDone({ result, error, preprocessed_args, fence, mem_peak_kb }: Done): boolean {
  if (mem_peak_kb !== undefined && !(Number.isInteger(mem_peak_kb) && mem_peak_kb >= 0)) return false;
  if (mem_peak_kb !== undefined && mem_peak_kb > MAX_KB) return false;
  if (typeof fence !== "number" || fence < 0 || fence > 3) return false;
  if (error !== undefined && !isError(error)) return false;
  if (preprocessed_args !== undefined && !isObject(preprocessed_args)) return false;
  return result === undefined || isJson(result);
}

function isError(error: Done["error"]): boolean {
  if (typeof error?.name !== "string" || typeof error.message !== "string") return false;
  try {
    return JSON.stringify(error).length <= MAX_ERROR;
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

/** Characters are at least a byte: the exact count is only taken near the limit. */
function isLonger(text: string, most: number): boolean {
  return text.length > most || (text.length * 3 > most && Buffer.byteLength(text) > most);
}
