/** JSON on its way through a query: numbers that JavaScript cannot hold keep their digits. */

const { parse, rawJSON, isRawJSON } = JSON as unknown as {
  parse: (
    text: string,
    reviver?: (key: string, value: unknown, context: { source?: string }) => unknown,
  ) => unknown;
  rawJSON: (text: string) => object;
  isRawJSON: (value: unknown) => value is { rawJSON: string };
};

/** Parses JSON; a number that JavaScript cannot hold comes as what JSON.stringify writes letter by letter. */
export function parseExactly(text: string): unknown {
  if (!/\d{16}|\d[eE]/.test(text)) return parse(text);
  return parse(text, (_key, value, { source }) =>
    typeof value === "number" && source !== undefined && !isHeld(value, source) ? rawJSON(source) : value,
  );
}

/** A whole number of 64 bits that came as its text; undefined for any other value. */
export function bigIntegerOf(value: unknown): bigint | undefined {
  const text = isRawJSON(value) ? value.rawJSON : "";
  const number = /^-?\d{1,19}$/.test(text) ? BigInt(text) : undefined;
  return number !== undefined && BigInt.asIntN(64, number) === number ? number : undefined;
}

/** A double's shortest decimal has 17 digits at most. */
function isHeld(value: number, source: string): boolean {
  if (Number.isInteger(value)) return Number.isSafeInteger(value);
  return Number.isFinite(value) && source.replace(/[eE].*|\D/g, "").length <= 17;
}
