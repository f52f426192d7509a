/** Limits the size of parsed source code: a parser needs some hundred bytes of memory per token. */
import { PayloadTooLarge } from "../../../lib/errors.ts";

/** Maximum tokens of a source; parsing this many takes some 130 MB. Ordinary code has 4 to 6 characters a token. */
const MAX_TOKENS = 300_000;

/**
 * Rejects source code that would take too much memory to parse. Strings and comments count as code.
 * @throws PayloadTooLarge
 */
export function requireParsableSize(source: string): void {
  // Each token needs at least one character.
  if (source.length <= MAX_TOKENS) return;
  let tokens = 0;
  let wasInWord = false;
  for (let at = 0; at < source.length; at++) {
    const isInWord = isWordCode(source.charCodeAt(at));
    if (isInWord ? !wasInWord : source.charCodeAt(at) > 32) tokens++;
    wasInWord = isInWord;
  }
  if (tokens <= MAX_TOKENS) return;
  throw new PayloadTooLarge(
    `the script has ${tokens.toLocaleString("en")} words and signs, more than the ${MAX_TOKENS.toLocaleString("en")} that can be read`,
    { hint: "put data into a resource or a file, and code into packages" },
  );
}

/** Whether a character is a letter, a digit, `_`, `$` or not ASCII. */
function isWordCode(code: number): boolean {
  return (
    (code >= 97 && code <= 122) ||
    (code >= 65 && code <= 90) ||
    (code >= 48 && code <= 57) ||
    code === 95 ||
    code === 36 ||
    code > 127
  );
}
