/** The forms in which a program may print a secret: as it is, inside JSON or source code, in URLs and in base64. */

/** Shorter lines of a multi-line secret (a brace, a number) are not searched for. */
const MIN_LINE_LENGTH = 8;
const MAX_LINES = 1_000;
/** Shorter secrets have too few characters in base64 that depend on nothing else. */
const MIN_BASE64_BYTES = 6;
/** Longer secrets are not sent in URLs and headers. */
const MAX_ENCODED_LENGTH = 4_096;

/** Yields the forms of a secret: itself, trimmed, its longer lines, and each of these as programs encode it. */
export function* listPrintedForms(secret: string): Generator<string> {
  const whole = [secret, secret.trim()];
  const lines = secret.split("\n").map((line) => line.trim());
  const long = lines.filter((line) => line.length >= MIN_LINE_LENGTH).slice(0, MAX_LINES);
  for (const text of [...whole, ...long]) {
    yield text;
    yield* listQuotedForms(text);
    // NULs are replaced in printed output.
    yield text.replaceAll("\0", "\ufffd");
  }
  if (secret.length > MAX_ENCODED_LENGTH) return;
  for (const text of whole) {
    yield* listUrlForms(text);
    yield* listBase64Forms(text);
  }
}

/** Yields the text as it is between quotes. */
function* listQuotedForms(text: string): Generator<string> {
  const json = JSON.stringify(text).slice(1, -1);
  const ascii = json.replace(/[^ -~]/g, toUnicodeEscape);
  yield json;
  // As in the output of Python's json.
  yield ascii;
  // As PHP's json_encode and Go's encoding/json print it.
  yield ascii.replaceAll("/", "\\/");
  yield json.replace(/[<>&]/g, toUnicodeEscape);
  // As Python's repr, PHP's var_export and JavaScript in single quotes, and as a shell quotes an argument.
  const escaped = text.replace(/[\\\n\r\t]/g, (each) => ESCAPES[each]!);
  yield escaped;
  yield escaped.replaceAll("'", "\\'");
  yield text.replaceAll("'", "'\\''");
}

const ESCAPES: Record<string, string> = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };

const toUnicodeEscape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;

/**
 * Yields the text as it is in a URL: encoded by JavaScript, as a form, by Python with and without slashes, and as a
 * password.
 */
function* listUrlForms(text: string): Generator<string> {
  const encoded = encodeURIComponent(text.toWellFormed());
  const strict = encoded.replace(/[!'()*]/g, (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`);
  yield encoded;
  yield strict;
  yield strict.replaceAll("%2F", "/");
  yield strict.replaceAll("%20", "+");
  const url = new URL("http://host");
  url.password = text;
  yield url.password;
}

/**
 * Yields the characters that the text has in base64 and its URL alphabet, whatever is encoded before and after it, such
 * as a user name in the header `Authorization`.
 */
function* listBase64Forms(text: string): Generator<string> {
  const bytes = Buffer.from(text);
  if (bytes.length < MIN_BASE64_BYTES) return;
  for (const before of [0, 1, 2]) {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString("base64");
    // Four characters for three bytes; those that also depend on neighbours are left out.
    const start = Math.ceil((before * 8) / 6);
    const stop = Math.floor(((before + bytes.length) * 8) / 6);
    const own = encoded.slice(start, stop);
    yield own;
    yield own.replaceAll("+", "-").replaceAll("/", "_");
  }
}
