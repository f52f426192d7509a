/**
 * Parsing of JSON from users and scripts, with a depth limit and without loss of digits. A number that a double cannot
 * reproduce is parsed as raw JSON (https://tc39.es/proposal-json-parse-with-source/): an object that JSON.stringify
 * writes unchanged, and that arithmetic cannot use.
 *
 * This is the only JSON parser for such input (a test checks this); `depth.ts` holds the nesting limit. Long JSON is
 * kept as text and scanned in slices (`long-json.ts`), and large request bodies are processed one at a time
 * (platform/http/large-bodies.ts). test/acceptance/contract/hostile sends hostile values to every operation;
 * test/bench/jobs/hostile.ts measures how long others wait meanwhile.
 */
import { MAX_WRAPPED_JSON_DEPTH, requireJsonDepth } from "./depth.ts";

interface JsonWithSource {
  rawJSON: (text: string) => object;
  isRawJSON: (value: unknown) => value is { rawJSON: string };
  parse: (
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ) => unknown;
}

const { rawJSON, isRawJSON, parse: parseWithSource } = JSON as unknown as JsonWithSource;

/** Whether a value is a number kept as raw JSON. */
export const isExactNumber = isRawJSON;

/**
 * Parses JSON so that JSON.stringify reproduces all numbers exactly.
 * @throws SyntaxError, NestedTooDeeply
 */
export function parseJson(text: string): unknown {
  requireJsonDepth(text, "the JSON", MAX_WRAPPED_JSON_DEPTH);
  return mayHoldInexact(text) ? parseWithSource(text, keepSourceText) : JSON.parse(text);
}

/**
 * Parses JSON for validation by a schema: numbers are plain (`1.0` is 1), except those outside a double's range or
 * precision.
 * @param what names the text in the error · @param limit levels of nesting
 * @throws SyntaxError, NestedTooDeeply
 */
export function parseSchemaJson(text: string, what = "the JSON", limit = MAX_WRAPPED_JSON_DEPTH): unknown {
  requireJsonDepth(text, what, limit);
  return OVERFLOWING_NUMBER.test(text) ? parseWithSource(text, keepOverflowingSource) : JSON.parse(text);
}

/** Whether a value is a JSON object: not an array, null or raw number. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isRawJSON(value);
}

/** Whether a value is an array or an object. */
export function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !isRawJSON(value);
}

/** Returns an object's JSON with members added or replaced; the others keep their digits. */
export function mergeMembers(object: string, members: object): string {
  return JSON.stringify({ ...(parseJson(object) as object), ...members });
}

const OWN_MEMBER = { configurable: true, enumerable: true, writable: true };

/** Copies a JSON value deeply; `undefined` members are kept. */
export function copyJson<T>(value: T): T {
  if (!isContainer(value)) return value;
  if (Array.isArray(value)) return value.map(copyJson) as T;
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const inner = copyJson(value[name]);
    // An assignment would set the prototype.
    if (name === "__proto__") Object.defineProperty(copy, name, { ...OWN_MEMBER, value: inner });
    else copy[name] = inner;
  }
  return copy as T;
}

/** Replaces raw numbers by plain ones throughout, for validation and arithmetic. */
export function toPlainNumbers(value: unknown): unknown {
  return isContainer(value) ? JSON.parse(JSON.stringify(value)) : toPlainNumber(value);
}

/** Returns the plain number of a raw one; other values unchanged. */
export function toPlainNumber(value: unknown): unknown {
  return isRawJSON(value) ? Number(value.rawJSON) : value;
}

/** Matches numbers (even inside strings) that may not be reproduced exactly. */
const INEXACT_NUMBER = /\d{16}|\d[eE]|\.\d*0(?!\d)|-0(?![.\d])/;

/** Matches numbers that may exceed a double. */
const OVERFLOWING_NUMBER = /\d{16}|\d[eE]\+?\d{3}/;

function mayHoldInexact(text: string): boolean {
  return INEXACT_NUMBER.test(text);
}

function keepSourceText(_key: string, value: unknown, { source }: { source?: string }): unknown {
  if (typeof value !== "number" || source === undefined) return value;
  return source === String(value) ? value : rawJSON(source);
}

/**
 * Keeps the source of a number that a double cannot hold: a double's shortest decimal has at most 17 significant
 * digits.
 */
function keepOverflowingSource(_key: string, value: unknown, { source }: { source?: string }): unknown {
  if (typeof value !== "number" || source === undefined || source === String(value)) return value;
  const digits = source.replace(/[eE].*/, "").replace(/^-?0*\.?0*|\D/g, "").length;
  const holds =
    Number.isSafeInteger(value) || (digits <= 17 && Number.isFinite(value) && !Number.isInteger(value));
  return holds ? value : rawJSON(source);
}
