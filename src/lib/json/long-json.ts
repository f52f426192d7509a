/**
 * Long JSON: scanned in time slices and never parsed as a whole. Parsing it would block the event loop too long and
 * take many times its size in memory.
 */

import { createTimeSlices } from "../async/time-slices.ts";
import { MAX_JSON_DEPTH, NestedTooDeeply } from "./depth.ts";

/** Length from which JSON is long; parsing this much takes some milliseconds. */
export const LONG_JSON_CHARACTERS = 500_000;

/** A string value (not a member name) in the text, quotes included. */
export interface StringToken {
  start: number;
  end: number;
}

const QUOTE = 34;
const [ARRAY, OBJECT] = [1, 2];
/** Brackets that open a container, by its kind. */
const OPENING = [0, 91, 123];
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: those that JSON writes as escapes
const SPECIAL = /["\\\u0000-\u001f]/g;
/** Length up to which a string is scanned by character; a regular expression has a higher start cost. */
const SHORT_STRING_CHARACTERS = 64;
/** Tokens between two checks of the time slice. */
const TOKENS_PER_CLOCK_CHECK = 2_000;

/**
 * Validates JSON text (RFC 8259) and its nesting.
 * @param onText called for each string value
 * @throws SyntaxError, NestedTooDeeply
 */
export async function validateLongJson(text: string, onText?: (token: StringToken) => void): Promise<void> {
  const pace = createTimeSlices();
  const around = new Uint8Array(MAX_JSON_DEPTH + 1);
  let depth = 0;
  let at = skipSpace(text, 0);
  /** Expected next: a value, the first element of a container, a member name, or what follows a value. */
  let next: "value" | "first" | "name" | "rest" = "value";
  for (let steps = 1; ; steps++) {
    if (steps % TOKENS_PER_CLOCK_CHECK === 0) await pace();
    const code = text.charCodeAt(at);
    if (next === "rest") {
      if (depth === 0) {
        if (at < text.length) throw unexpected(text, at);
        return;
      }
      if (code === 44) next = around[depth] === OBJECT ? "name" : "value";
      else if (code === closingBracket(around[depth]!)) depth--;
      else throw unexpected(text, at);
      at = skipSpace(text, at + 1);
      continue;
    }
    if (next === "first" && code === closingBracket(around[depth]!)) {
      depth--;
      next = "rest";
      at = skipSpace(text, at + 1);
      continue;
    }
    if (next === "name" || (next === "first" && around[depth] === OBJECT)) {
      at = skipSpace(text, endOfString(text, at));
      if (text.charCodeAt(at) !== 58) throw unexpected(text, at);
      next = "value";
      at = skipSpace(text, at + 1);
      continue;
    }
    if (code === 91 || code === 123) {
      if (++depth > MAX_JSON_DEPTH) throw new NestedTooDeeply("the JSON");
      around[depth] = code === 91 ? ARRAY : OBJECT;
      next = "first";
      at = skipSpace(text, at + 1);
      continue;
    }
    const end = code === QUOTE ? endOfString(text, at) : endOfPlain(text, at, code);
    if (code === QUOTE) onText?.({ start: at, end });
    next = "rest";
    at = skipSpace(text, end);
  }
}

/**
 * Replaces some string values of a JSON text.
 * @param isMeant selects strings by the text from their quote on
 * @param by returns the JSON that replaces a string
 */
export async function replaceInLongJson(
  text: string,
  isMeant: (text: string, start: number) => boolean,
  by: (value: string) => Promise<string>,
): Promise<string> {
  const tokens: StringToken[] = [];
  await validateLongJson(text, (token) => {
    if (isMeant(text, token.start)) tokens.push(token);
  });
  if (tokens.length === 0) return text;
  const pieces: string[] = [];
  let from = 0;
  for (const { start, end } of tokens) {
    pieces.push(text.slice(from, start), await by(JSON.parse(text.slice(start, end)) as string));
    from = end;
  }
  return pieces.join("") + text.slice(from);
}

/**
 * Splits the text of an array into those of its elements, which are not validated.
 * @returns undefined if the text is not an array
 * @throws SyntaxError
 */
export async function splitLongArray(text: string): Promise<string[] | undefined> {
  const pace = createTimeSlices();
  const elements: string[] = [];
  let at = skipSpace(text, 0);
  if (text.charCodeAt(at) !== OPENING[ARRAY]) return undefined;
  let depth = 0;
  for (let start = at + 1, steps = 1; at < text.length; steps++) {
    if (steps % TOKENS_PER_CLOCK_CHECK === 0) await pace();
    const code = text.charCodeAt(at);
    if (code === QUOTE) {
      at = endOfString(text, at);
      continue;
    }
    if (OPENING.includes(code)) depth++;
    else if (code === closingBracket(ARRAY) || code === closingBracket(OBJECT)) depth--;
    const isOver = depth === 0;
    if (isOver || (code === 44 && depth === 1)) {
      elements.push(text.slice(start, at));
      start = at + 1;
    }
    at++;
    if (!isOver) continue;
    if (code !== closingBracket(ARRAY) || skipSpace(text, at) < text.length) return undefined;
    return elements.length === 1 && elements[0]!.trim() === "" ? [] : elements;
  }
  return undefined;
}

/**
 * Merges objects by their JSON texts. For duplicate names the last member counts, as in every JSON parser used here.
 */
export function mergeJsonObjects(...objects: string[]): string {
  const inner = objects.map((object) => object.trim().slice(1, -1).trim());
  return `{${inner.filter((members) => members !== "").join(",")}}`;
}

function closingBracket(kind: number): number {
  return kind === ARRAY ? 93 : 125;
}

function skipSpace(text: string, from: number): number {
  let at = from;
  for (
    let code = text.charCodeAt(at);
    code === 32 || (code >= 9 && code <= 13);
    code = text.charCodeAt(++at)
  ) {
    if (code === 11 || code === 12) throw unexpected(text, at);
  }
  return at;
}

/** Finds the end of a string in JSON text. @returns the index after the string */
function endOfString(text: string, start: number): number {
  if (text.charCodeAt(start) !== QUOTE) throw unexpected(text, start);
  const near = start + SHORT_STRING_CHARACTERS;
  for (let at = start + 1; at < text.length; at++) {
    if (at > near) at = indexOfSpecial(text, at);
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code < 32) throw unexpected(text, at);
    if (code === 92) at = endOfEscape(text, at + 1);
  }
  throw unexpected(text, text.length);
}

/** Returns the index of the next quote, backslash or control character, or the text's length. */
function indexOfSpecial(text: string, from: number): number {
  SPECIAL.lastIndex = from;
  return SPECIAL.test(text) ? SPECIAL.lastIndex - 1 : text.length;
}

function endOfEscape(text: string, at: number): number {
  const letter = text[at] ?? "";
  if (letter === "u" && /^[\da-fA-F]{4}$/.test(text.slice(at + 1, at + 5))) return at + 4;
  if (letter === "" || !'"\\/bfnrt'.includes(letter)) throw unexpected(text, at);
  return at;
}

/** Returns the end of a number, true, false or null. */
function endOfPlain(text: string, at: number, code: number): number {
  const word = code === 116 ? "true" : code === 102 ? "false" : code === 110 ? "null" : undefined;
  if (word !== undefined && text.startsWith(word, at)) return at + word.length;
  NUMBER.lastIndex = at;
  if (word !== undefined || !NUMBER.test(text)) throw unexpected(text, at);
  return NUMBER.lastIndex;
}

function unexpected(text: string, at: number): SyntaxError {
  const found = at < text.length ? `${JSON.stringify(text[at])} at character ${at + 1}` : "end";
  return new SyntaxError(`JSON Parse error: Unexpected ${found}`);
}
