/** Limit of JSON nesting: deep nesting makes processing cost more than its size suggests. */
import { BadRequest } from "../errors.ts";

/** Maximum nesting of JSON from users and scripts. */
export const MAX_JSON_DEPTH = 500;

/** Maximum nesting after the service has wrapped and combined such JSON. */
export const MAX_WRAPPED_JSON_DEPTH = 2 * MAX_JSON_DEPTH;

/** JSON text is nested too deeply. */
export class NestedTooDeeply extends BadRequest {
  constructor(what: string) {
    super(`${what} is nested deeper than the ${MAX_JSON_DEPTH} levels that JSON may have`);
  }
}

/**
 * Rejects JSON text that is nested too deeply, by scanning its characters before it is parsed.
 * @param what names the text in the error, such as "the body"
 * @throws NestedTooDeeply
 */
export function requireJsonDepth(text: string, what = "the JSON", limit = MAX_JSON_DEPTH): void {
  if (isTooDeep(text, limit)) throw new NestedTooDeeply(what);
}

/** Whether JSON text, complete or not, nests more than `limit` arrays and objects. */
export function isTooDeep(text: string, limit = MAX_JSON_DEPTH): boolean {
  // Each level needs a character of its own.
  if (text.length <= limit) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === BRACKET || code === BRACE) {
      if (++depth > limit) return true;
    } else if (code === BRACKET_END || code === BRACE_END) depth--;
  }
  return false;
}

const QUOTE = 34;
const BACKSLASH = 92;
const BRACKET = 91;
const BRACKET_END = 93;
const BRACE = 123;
const BRACE_END = 125;

/** Returns the index of the string's closing quote, or the text's length. */
function endOfString(text: string, at: number): number {
  for (let next = at + 1; next < text.length; next++) {
    const code = text.charCodeAt(next);
    if (code === QUOTE) return next;
    if (code === BACKSLASH) next++;
  }
  return text.length;
}
