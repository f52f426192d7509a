/** Keys by which a result says what is to become of it: contract §4.11. */
import { parseJson, plainNumber } from "./json.ts";

/** Three spellings of each: the contract's two, and the one existing scripts use. */
const PREFIXES = ["wm_", "svc_", "windmill_"] as const;

const isText = (value: unknown) => typeof value === "string";

/** What the value of each must be. */
const KINDS: Record<string, { what: string; fits: (value: unknown) => boolean }> = {
  status_code: { what: "a number", fits: (value) => typeof value === "number" },
  content_type: { what: "a string", fits: isText },
  headers: { what: "an object of strings", fits: isTexts },
  content_transfer_encoding: { what: "a string", fits: isText },
  failure: { what: "a string", fits: isText },
};

const MARKS = PREFIXES.map((prefix) => `"${prefix}`);
const KEY = new RegExp(`"(${PREFIXES.join("|")})(${Object.keys(KINDS).join("|")})"\\s*:`);

function isTexts(value: unknown): boolean {
  return (
    typeof value === "object" && value !== null && !Array.isArray(value) && Object.values(value).every(isText)
  );
}

/** A result that holds control keys; undefined for any other. @param result JSON text */
export function controlledResult(result: string): Record<string, unknown> | undefined {
  if (!result.startsWith("{") || !MARKS.some((mark) => result.includes(mark)) || !KEY.test(result)) {
    return undefined;
  }
  const value = parseJson(result) as Record<string, unknown>;
  return Object.keys(KINDS).some((key) => control(value, key) !== undefined) ? value : undefined;
}

/** The value of a control key; null counts as left out. @param key without its prefix, such as `failure` */
export function control(value: Record<string, unknown>, key: string): unknown {
  const name = spellingOf(value, key);
  return name === undefined ? undefined : plainNumber(value[name]);
}

/** The first spelling that has a value. */
function spellingOf(value: Record<string, unknown>, key: string): string | undefined {
  return PREFIXES.map((prefix) => prefix + key).find((name) => (value[name] ?? null) !== null);
}

/** Says which control key has a value that it cannot have, and what would be right. */
export function controlFault(value: Record<string, unknown>): string | undefined {
  for (const [key, { what, fits }] of Object.entries(KINDS)) {
    const given = control(value, key);
    if (given === undefined || fits(given)) continue;
    return `${spellingOf(value, key)} of the result must be ${what}, and is ${kindOf(given)}`;
  }
  return undefined;
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object with other values" : `a ${typeof value}`;
}
