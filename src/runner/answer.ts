/** What a child says came of its job. User code can write to the channel too, so it is taken only when it can be. */
import type { Done } from "./protocol.ts";

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

/** Why an answer is none, as a continuation of "the script's process answered"; undefined when it is one. */
export function faultOf(message: Done, max_result: number): string | undefined {
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
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Characters are at least a byte: the exact count is only taken near the limit. */
function isLonger(text: string, most: number): boolean {
  return text.length > most || (text.length * 3 > most && Buffer.byteLength(text) > most);
}
