/** JSON arguments and results of queries: numbers beyond a double's precision keep their digits. */

const { parse, rawJSON, isRawJSON } = JSON as unknown as {
  parse: (
    text: string,
    reviver?: (key: string, value: unknown, context: { source?: string }) => unknown,
  ) => unknown;
  rawJSON: (text: string) => object;
  isRawJSON: (value: unknown) => value is { rawJSON: string };
};

/** Parses JSON; a number that a double cannot hold becomes raw JSON, which JSON.stringify writes unchanged. */
export function parseExactly(text: string): unknown {
  if (!/\d{16}|\d[eE]/.test(text)) return parse(text);
  return parse(text, (_key, value, { source }) =>
    typeof value === "number" && source !== undefined && !fitsDouble(value, source) ? rawJSON(source) : value,
  );
}

/** Parses JSON for programs that are given texts: every number is written again as it was. */
export function parseVerbatim(text: string): unknown {
  return parse(text, (_key, value, { source }) =>
    typeof value === "number" && source !== undefined && String(value) !== source ? rawJSON(source) : value,
  );
}

/** Converts a raw number to a 64-bit integer; undefined for any other value. */
export function toBigInteger(value: unknown): bigint | undefined {
  const text = isRawJSON(value) ? value.rawJSON : "";
  const number = /^-?\d{1,19}$/.test(text) ? BigInt(text) : undefined;
  return number !== undefined && BigInt.asIntN(64, number) === number ? number : undefined;
}

/** Whether a double holds the number: its shortest decimal has at most 17 digits. */
function fitsDouble(value: number, source: string): boolean {
  if (Number.isInteger(value)) return Number.isSafeInteger(value);
  return Number.isFinite(value) && source.replace(/[eE].*|\D/g, "").length <= 17;
}
