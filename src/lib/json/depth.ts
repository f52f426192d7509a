/** How deep JSON may be nested: what is done with a value costs more than its size where it is nested without end. */
import { BadRequest } from "../errors.ts";

/** Most arrays and objects inside one another, in all JSON that comes from people or from scripts. */
export const MAX_JSON_DEPTH = 500;

/** The same of what is made here of such JSON, by wrapping it and by putting it into one another. */
export const MAX_DEPTH_WITHIN = 2 * MAX_JSON_DEPTH;

/** JSON text is nested too deeply. */
export class NestedTooDeeply extends BadRequest {
  constructor(what: string) {
    super(`${what} is nested deeper than the ${MAX_JSON_DEPTH} levels that JSON may have`);
  }
}

/**
 * Refuses JSON text that is nested too deeply, in one look at its characters and before anything parses it.
 * @param what names the text in the error: "the body"
 * @throws NestedTooDeeply
 */
export function refuseDeep(text: string, what = "the JSON", most = MAX_JSON_DEPTH): void {
  if (isTooDeep(text, most)) throw new NestedTooDeeply(what);
}

/** Whether JSON text, complete or not, opens more than `most` arrays and objects inside one another. */
export function isTooDeep(text: string, most = MAX_JSON_DEPTH): boolean {
  // Each level opens with a character of its own.
  if (text.length <= most) return false;
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === QUOTE) at = endOfString(text, at);
    else if (code === BRACKET || code === BRACE) {
      if (++depth > most) return true;
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

/** Where the string ends that begins at `at`; the text's end when it does not. */
function endOfString(text: string, at: number): number {
  for (let next = at + 1; next < text.length; next++) {
    const code = text.charCodeAt(next);
    if (code === QUOTE) return next;
    if (code === BACKSLASH) next++;
  }
  return text.length;
}
