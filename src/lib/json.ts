/** Of this many digits on a double may not hold a number; ids and dates have fewer in a row. */
const MANY_DIGITS = /\d{16}/;

/**
 * Parses JSON so that JSON.stringify writes its numbers again letter by letter, also those that a double cannot hold:
 * these come as raw JSON (https://tc39.es/proposal-json-parse-with-source/), which nothing can be reckoned with.
 * @throws SyntaxError
 */
export function parseExactly(text: string): unknown {
  if (!MANY_DIGITS.test(text)) return JSON.parse(text);
  return JSON.parse(text, (_key, value, ...[context]: [{ source?: string }?]) => {
    const source = typeof value === "number" ? context?.source : undefined;
    return source === undefined || source === String(value) ? value : rawJson(source);
  });
}

const { rawJSON: rawJson } = JSON as unknown as { rawJSON: (text: string) => unknown };
