/** Control keys: fields of a result that control the response (contract §4.11). */
import { parseJson, toPlainNumber } from "./json.ts";

/** Prefixes of the keys: the contract's two, and the one that existing scripts use. */
const PREFIXES = ["wm_", "svc_", "windmill_"] as const;

const isText = (value: unknown) => typeof value === "string";

/** Required type of each key. */
const CONTROL_KEYS: Record<string, { what: string; fits: (value: unknown) => boolean }> = {
  status_code: { what: "a number", fits: (value) => typeof value === "number" },
  content_type: { what: "a string", fits: isText },
  headers: { what: "an object of strings", fits: isTexts },
  content_transfer_encoding: { what: "a string", fits: isText },
  failure: { what: "a string", fits: isText },
};

const KEY_MARKS = PREFIXES.map((prefix) => `"${prefix}`);
const KEY = new RegExp(`"(${PREFIXES.join("|")})(${Object.keys(CONTROL_KEYS).join("|")})"\\s*:`);

function isTexts(value: unknown): boolean {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && Object.values(value).every(isText)
  );
}

/** Parses a result that has control keys; undefined for any other. @param result JSON text */
export function parseControlledResult(result: string): Record<string, unknown> | undefined {
  if (!result.startsWith("{") || !KEY_MARKS.some((mark) => result.includes(mark)) || !KEY.test(result)) {
    return undefined;
  }
  const value = parseJson(result) as Record<string, unknown>;
  return Object.keys(CONTROL_KEYS).some((key) => readControlKey(value, key) !== undefined)
    ? value
    : undefined;
}

/** Returns the value of a control key; null counts as absent. @param key without its prefix, such as `failure` */
export function readControlKey(value: Record<string, unknown>, key: string): unknown {
  const name = findSpelling(value, key);
  return name === undefined ? undefined : toPlainNumber(value[name]);
}

/** Returns the first spelling that has a value. */
function findSpelling(value: Record<string, unknown>, key: string): string | undefined {
  return PREFIXES.map((prefix) => prefix + key).find((name) => (value[name] ?? null) !== null);
}

/** Describes the first control key with an invalid value; undefined if all are valid. */
export function findControlKeyError(value: Record<string, unknown>): string | undefined {
  for (const [key, { what, fits }] of Object.entries(CONTROL_KEYS)) {
    const given = readControlKey(value, key);
    if (given === undefined || fits(given)) continue;
    return `${findSpelling(value, key)} of the result must be ${what}, and is ${describeType(given)}`;
  }
  return undefined;
}

function describeType(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object with other values" : `a ${typeof value}`;
}
