import { BadRequest } from "../errors.ts";

/** How deep JSON may be nested (RFC 8259 §9): whatever walks through it then does so without exhausting the stack. */
export const MAX_DEPTH = 1_000;

const QUOTE = 34;
const BACKSLASH = 92;

/** Checks text that may be JSON before it is parsed. @throws BadRequest when it is nested deeper than `MAX_DEPTH` */
export function checkDepth(text: string): void {
  let depth = 0;
  for (let at = 0; at < text.length; at++) {
    const character = text.charCodeAt(at);
    if (character === QUOTE) {
      at = endOfString(text, at);
      if (at < 0) return;
    } else if (character === 0x5b || character === 0x7b) {
      if (++depth > MAX_DEPTH)
        throw new BadRequest(`the input is nested too deeply: more than ${MAX_DEPTH} levels`);
    } else if (character === 0x5d || character === 0x7d) depth--;
  }
}

/** Where the string that begins here ends; -1: nowhere. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let before = at;
    while (text.charCodeAt(before - 1) === BACKSLASH) before--;
    if ((at - before) % 2 === 0) return at;
  }
  return -1;
}
