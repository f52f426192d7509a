/**
 * The one way in which JSON of people and of scripts is read and written again: no deeper than it may be, and with
 * all digits of its numbers. A number that a double cannot write again as it was is read as raw JSON
 * (https://tc39.es/proposal-json-parse-with-source/): an object that JSON.stringify writes letter by letter, and
 * that nothing can be reckoned with.
 */
import { MAX_DEPTH_WITHIN, refuseDeep } from "./depth.ts";

interface JsonWithSource {
  rawJSON: (text: string) => object;
  isRawJSON: (value: unknown) => value is { rawJSON: string };
  parse: (
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ) => unknown;
}

const { rawJSON, isRawJSON, parse: parseWithSource } = JSON as unknown as JsonWithSource;

/** Whether a value is a number that is kept as it was written. */
export const isExactNumber = isRawJSON;

/**
 * Parses JSON; what JSON.stringify makes of it has the same numbers, letter by letter.
 * @throws SyntaxError, NestedTooDeeply
 */
export function parseJson(text: string): unknown {
  refuseDeep(text, "the JSON", MAX_DEPTH_WITHIN);
  return mayHoldInexact(text) ? parseWithSource(text, keepLetters) : JSON.parse(text);
}

/**
 * Parses JSON that a schema checks. Numbers are numbers there, so `1.0` is 1; only one whose value a double cannot hold
 * is kept as it was written.
 * @throws SyntaxError, NestedTooDeeply
 */
export function parseFields(text: string): unknown {
  refuseDeep(text, "the JSON", MAX_DEPTH_WITHIN);
  return MAY_OVERFLOW.test(text) ? parseWithSource(text, keepValue) : JSON.parse(text);
}

/** Whether a value is an object of JSON: no array, no null, no number that is kept as it was written. */
export function isJsonObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !isRawJSON(value);
}

/** Whether a value holds others: an array or an object. */
export function isContainer(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !isRawJSON(value);
}

/** The text of an object with these members beside its own, which they replace; what is not touched keeps its digits. */
export function withMembers(object: string, members: object): string {
  return JSON.stringify({ ...(parseJson(object) as object), ...members });
}

/** A copy of a JSON value that can be changed; `undefined` members are kept. */
export function copyJson<T>(value: T): T {
  if (!isContainer(value)) return value;
  if (Array.isArray(value)) return value.map(copyJson) as T;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, copyJson(inner)])) as T;
}

/** A value with plain numbers throughout, for what checks or reckons with them. */
export function withPlainNumbers(value: unknown): unknown {
  return isContainer(value) ? JSON.parse(JSON.stringify(value)) : plainNumber(value);
}

/** A number that can be reckoned with in the place of one that is kept as it was written; any other value as it is. */
export function plainNumber(value: unknown): unknown {
  return isRawJSON(value) ? Number(value.rawJSON) : value;
}

/** A number in a text, inside of a string or not, that may not be written again as it is. */
const INEXACT = /\d{16}|\d[eE]|\.\d*0(?!\d)|-0(?![.\d])/;

/** One whose value may be no double. */
const MAY_OVERFLOW = /\d{16}|\d[eE]\+?\d{3}/;

function mayHoldInexact(text: string): boolean {
  return INEXACT.test(text);
}

function keepLetters(_key: string, value: unknown, { source }: { source?: string }): unknown {
  if (typeof value !== "number" || source === undefined) return value;
  return source === String(value) ? value : rawJSON(source);
}

/** A double's shortest decimal has 17 significant digits at most: a longer number, or a larger integer, was more exact. */
function keepValue(_key: string, value: unknown, { source }: { source?: string }): unknown {
  if (typeof value !== "number" || source === undefined || source === String(value)) return value;
  const digits = source.replace(/[eE].*/, "").replace(/^-?0*\.?0*|\D/g, "").length;
  const holds =
    Number.isSafeInteger(value) || (digits <= 17 && Number.isFinite(value) && !Number.isInteger(value));
  return holds ? value : rawJSON(source);
}
