/** The payload of a request, parsed as JSON, as a form, or as text. */
import type { Awaitable } from "../../../lib/async/awaitable.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { requireJsonDepth } from "../../../lib/json/depth.ts";
import { isJsonObject, parseJson } from "../../../lib/json/json.ts";
import { LONG_JSON_CHARACTERS, validateLongJson } from "../../../lib/json/long-json.ts";

/** The payload of a request, before headers and query parameters are added. */
export interface Payload {
  /** The payload as sent. */
  text: string;
  /** The parsed value: JSON, the fields of a form, the data of an event, or the text itself. */
  readonly value: unknown;
  /** The JSON text of `value`, if the payload was JSON. */
  json?: string;
  /** Whether `json` is so long that it should not be parsed unnecessarily: `value` parses it at each access. */
  isLong?: true;
  /** Whether `value` is text that is not JSON; it then becomes `raw_string`, not `body`. */
  isPlainText?: true;
  /** Arguments to add to those of `value`. */
  extra_args?: Record<string, unknown>;
}

export const JSON_TYPE = "application/json";
const FORM_TYPE = "application/x-www-form-urlencoded";
/** Maximum fields of a URL-encoded form. */
const MAX_FIELDS = 10_000;

/**
 * Parses a payload. JSON is tried whatever the content type; anything else that is not a form is text. An empty body of
 * a data type has no arguments.
 * @throws NestedTooDeeply; BadRequest for a form with too many fields
 */
export function parsePayload(type: string, text: string): Awaitable<Payload> {
  const isForm = type === FORM_TYPE;
  const isJson = type === JSON_TYPE || type.endsWith("+json");
  if ((isJson || isForm || type === "") && text.trim() === "") return { text, value: {} };
  const json = text.startsWith("\ufeff") ? text.slice(1) : text;
  try {
    if (json.length > LONG_JSON_CHARACTERS)
      return createLongPayload(text, json).catch((cause) => takeOtherwise(cause, isForm, text, json));
    requireJsonDepth(json, "the body");
    return { text, json, value: parseJson(json) };
  } catch (cause) {
    return takeOtherwise(cause, isForm, text, json);
  }
}

/** Parses a payload that is not JSON as a form or as text. */
function takeOtherwise(cause: unknown, isForm: boolean, text: string, json: string): Payload {
  if (cause instanceof BadRequest) throw cause;
  return isForm ? { text, value: parseForm(json) } : { text, value: text, isPlainText: true };
}

async function createLongPayload(text: string, json: string): Promise<Payload> {
  await validateLongJson(json);
  return {
    text,
    json,
    isLong: true,
    get value() {
      return parseJson(json);
    },
  };
}

/** Returns whether a payload sent as JSON is an object, without parsing it. */
export function isObjectPayload(payload: Payload): boolean {
  return payload.isLong ? /^\s*\{/.test(payload.json!) : isJsonObject(payload.value);
}

/** Parses a URL-encoded form. A field without `=` is null. */
function parseForm(text: string): Record<string, string | null> {
  requireFewFields(text);
  const fields = text.split("&").filter((field) => field !== "");
  // With the `&`, a leading `?` stays part of the first name; URLSearchParams would remove it.
  const pairs = [...new URLSearchParams(`&${text}`)];
  return Object.fromEntries(
    pairs.map(([name, value], at) => [name, fields[at]!.includes("=") ? value : null]),
  );
}

/** Limits the number of fields of a form. @throws BadRequest */
function requireFewFields(text: string): void {
  let count = 1;
  for (let at = text.indexOf("&"); at >= 0 && count <= MAX_FIELDS; at = text.indexOf("&", at + 1)) count++;
  if (count > MAX_FIELDS) {
    throw new BadRequest(`the form has more than ${MAX_FIELDS} fields, the most this server accepts`);
  }
}
