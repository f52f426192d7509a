/**
 * Unsupported fields of newer clients that would change how a script, flow or schedule runs. They are stored and
 * returned like other unknown fields, and a response header lists the ones without effect.
 */
import { isJsonObject } from "../../../lib/json/json.ts";
import { ResponseWithHeaders } from "../../../platform/http/operation.ts";

/** The fields, and what to use instead. */
export const NOT_OFFERED: Readonly<Record<string, string>> = {
  cache_ignore_s3_path: "the paths of files count for the cache",
  debounce_args_to_accumulate: "each call runs",
  debounce_delay_s: "each call runs; concurrent_limit bounds how many run at once",
  debounce_key: "each call runs; concurrency_key groups them for concurrent_limit",
  delete_after_secs: "use delete_after_use, or the instance's retention period",
  dynamic_skip: "let the script itself return early, or use skip_expr of a flow",
  max_total_debounces_amount: "each call runs",
  max_total_debouncing_time: "each call runs",
};

const EXPRESSION_TAG = "$flow_expr";
const TAG_ADVICE = `tags that begin with ${EXPRESSION_TAG} are not evaluated: use $args[name] or $workspace`;

/** Fields that contain further steps of a flow. */
const STRUCTURE = ["value", "modules", "branches", "default", "failure_module", "preprocessor_module"];

/** Lists the unsupported options of an item and of a flow's steps, each once. */
export function listNotOffered(item: unknown): string[] {
  const found = new Set<string>();
  collect(item, found);
  return [...found].sort();
}

function collect(item: unknown, found: Set<string>): void {
  if (Array.isArray(item)) {
    for (const each of item) collect(each, found);
    return;
  }
  if (!isJsonObject(item)) return;
  for (const [name, advice] of Object.entries(NOT_OFFERED)) {
    if (isAskedFor(item[name])) found.add(`${name} has no effect: ${advice}`);
  }
  if (typeof item.tag === "string" && item.tag.startsWith(EXPRESSION_TAG)) found.add(TAG_ADVICE);
  for (const name of STRUCTURE) collect(item[name], found);
}

const isAskedFor = (value: unknown) =>
  value !== undefined && value !== null && value !== false && value !== 0 && value !== "";

/** Adds the header that lists fields of the body without effect to a response. */
export function addNotOfferedHeader<R>(answer: R, ...items: unknown[]): R | ResponseWithHeaders<R> {
  const warnings = listNotOffered(items);
  if (warnings.length === 0) return answer;
  return new ResponseWithHeaders(answer, { warning: warnings.map((text) => `299 - "${text}"`).join(", ") });
}
