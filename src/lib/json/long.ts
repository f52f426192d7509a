/**
 * JSON that is long: looked at character by character, in slices, and never held as a value. Parsing it would hold the
 * thread that serves requests for longer than others should wait, and take many times its size in memory.
 */

import { createPacer } from "../async/time-slices.ts";
import { MAX_JSON_DEPTH, NestedTooDeeply } from "./depth.ts";

/** Characters from which on JSON is long: to parse as many takes some milliseconds. */
export const LONG = 500_000;

/** A string of the text that is a value, not a name: from its quote to behind the other. */
export interface Token {
  start: number;
  end: number;
}

const QUOTE = 34;
const [ARRAY, OBJECT] = [1, 2];
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
// biome-ignore lint/suspicious/noControlCharactersInRegex: those that JSON writes as escapes
const SPECIAL = /["\\\u0000-\u001f]/g;
/** How far a string is looked at without an expression, which takes longer to begin. */
const NEAR = 64;
/** Tokens between two looks at the clock. */
const STEPS = 2_000;

/**
 * Checks that a text is JSON (RFC 8259), no deeper than it may be.
 * @param onText called for each string that is a value
 * @throws SyntaxError, NestedTooDeeply
 */
export async function checkLong(text: string, onText?: (token: Token) => void): Promise<void> {
  const pace = createPacer();
  const around = new Uint8Array(MAX_JSON_DEPTH + 1);
  let depth = 0;
  let at = afterSpace(text, 0);
  /** What may come: a value, the first thing inside of brackets, a name, or what follows a value. */
  let next: "value" | "first" | "name" | "rest" = "value";
  for (let steps = 1; ; steps++) {
    if (steps % STEPS === 0) await pace();
    const code = text.charCodeAt(at);
    if (next === "rest") {
      if (depth === 0) {
        if (at < text.length) throw unexpected(text, at);
        return;
      }
      if (code === 44) next = around[depth] === OBJECT ? "name" : "value";
      else if (code === closing(around[depth]!)) depth--;
      else throw unexpected(text, at);
      at = afterSpace(text, at + 1);
      continue;
    }
    if (next === "first" && code === closing(around[depth]!)) {
      depth--;
      next = "rest";
      at = afterSpace(text, at + 1);
      continue;
    }
    if (next === "name" || (next === "first" && around[depth] === OBJECT)) {
      at = afterSpace(text, endOfString(text, at));
      if (text.charCodeAt(at) !== 58) throw unexpected(text, at);
      next = "value";
      at = afterSpace(text, at + 1);
      continue;
    }
    if (code === 91 || code === 123) {
      if (++depth > MAX_JSON_DEPTH) throw new NestedTooDeeply("the JSON");
      around[depth] = code === 91 ? ARRAY : OBJECT;
      next = "first";
      at = afterSpace(text, at + 1);
      continue;
    }
    const end = code === QUOTE ? endOfString(text, at) : endOfPlain(text, at, code);
    if (code === QUOTE) onText?.({ start: at, end });
    next = "rest";
    at = afterSpace(text, end);
  }
}

/**
 * The same text with other JSON in the place of some of its strings.
 * @param isMeant by the text's own characters, from the quote on
 * @param by is told the string, and gives what stands for it, as JSON
 */
export async function replaceInLong(
  text: string,
  isMeant: (text: string, start: number) => boolean,
  by: (value: string) => Promise<string>,
): Promise<string> {
  const tokens: Token[] = [];
  await checkLong(text, (token) => {
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

/** Objects in one, by their texts. Of members of the same name the last one counts, as for every reader of JSON here. */
export function joinObjects(...objects: string[]): string {
  const inner = objects.map((object) => object.trim().slice(1, -1).trim());
  return `{${inner.filter((members) => members !== "").join(",")}}`;
}

function closing(kind: number): number {
  return kind === ARRAY ? 93 : 125;
}

function afterSpace(text: string, from: number): number {
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

/** @returns where what follows the string begins */
function endOfString(text: string, start: number): number {
  if (text.charCodeAt(start) !== QUOTE) throw unexpected(text, start);
  const near = start + NEAR;
  for (let at = start + 1; at < text.length; at++) {
    if (at > near) at = indexOfSpecial(text, at);
    const code = text.charCodeAt(at);
    if (code === QUOTE) return at + 1;
    if (code < 32) throw unexpected(text, at);
    if (code === 92) at = endOfEscape(text, at + 1);
  }
  throw unexpected(text, text.length);
}

/** The next character that is more than itself in a string; the text's length when there is none. */
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

/** Of a number, true, false or null. */
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
