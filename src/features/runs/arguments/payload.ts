/** What a request carries, read as JSON, as a form, or as the text that it is. */
import { BadRequest } from "../../../lib/errors.ts";
import { refuseDeep } from "../../../lib/json/depth.ts";
import { isJsonObject, parseJson } from "../../../lib/json/json.ts";
import { checkLong, LONG } from "../../../lib/json/long.ts";

/** What a request carries, before anything is added to it. */
export interface Payload {
  /** All of it, as it was sent. */
  text: string;
  /** What it holds: parsed JSON, the fields of a form, the data of an event, or the text itself. */
  readonly value: unknown;
  /** The JSON text of `value`, when that is what was sent. */
  json?: string;
  /** `json` is too long to be parsed without need: `value` is, each time it is asked for. */
  isLong?: true;
  /** `value` is text that is no JSON: it becomes `raw_string`, not `body`. */
  isPlain?: true;
  /** Arguments that stand beside those of `value`. */
  beside?: Record<string, unknown>;
}

export const JSON_TYPE = "application/json";
const FORM = "application/x-www-form-urlencoded";
/** Most fields of a URL-encoded form. */
const MAX_FIELDS = 10_000;

/**
 * JSON is tried whatever the type, and whatever the type what is none is text. An empty body of data holds no arguments.
 * @throws NestedTooDeeply; BadRequest for a form with too many fields
 */
export async function readAs(type: string, text: string): Promise<Payload> {
  const isForm = type === FORM;
  const isJson = type === JSON_TYPE || type.endsWith("+json");
  if ((isJson || isForm || type === "") && text.trim() === "") return { text, value: {} };
  const json = text.startsWith("\ufeff") ? text.slice(1) : text;
  try {
    if (json.length > LONG) return await longPayload(text, json);
    refuseDeep(json, "the body");
    return { text, json, value: parseJson(json) };
  } catch (cause) {
    if (cause instanceof BadRequest) throw cause;
    return isForm ? { text, value: formOf(json) } : { text, value: text, isPlain: true };
  }
}

async function longPayload(text: string, json: string): Promise<Payload> {
  await checkLong(json);
  return {
    text,
    json,
    isLong: true,
    get value() {
      return parseJson(json);
    },
  };
}

/** Whether a payload that was sent as JSON is an object, without parsing it. */
export function isObjectPayload(payload: Payload): boolean {
  return payload.isLong ? /^\s*\{/.test(payload.json!) : isJsonObject(payload.value);
}

/** A field without `=` has no value: null. */
function formOf(text: string): Record<string, string | null> {
  refuseManyFields(text);
  const fields = text.split("&").filter((field) => field !== "");
  // A leading `?` belongs to the first name here; alone, URLSearchParams would drop it.
  const pairs = [...new URLSearchParams(`&${text}`)];
  return Object.fromEntries(
    pairs.map(([name, value], at) => [name, fields[at]!.includes("=") ? value : null]),
  );
}

/** @throws BadRequest */
function refuseManyFields(text: string): void {
  let count = 1;
  for (let at = text.indexOf("&"); at >= 0 && count <= MAX_FIELDS; at = text.indexOf("&", at + 1)) count++;
  if (count > MAX_FIELDS) {
    throw new BadRequest(`the form has more than ${MAX_FIELDS} fields, the most this server accepts`);
  }
}
