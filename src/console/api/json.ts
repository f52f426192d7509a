/** JSON without loss of precision: integers beyond 2^53 become BigInt. */

type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;

const keepDigits: Reviver = (_key, value, context) => {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  return source !== undefined && /^-?\d+$/.test(source) ? BigInt(source) : value;
};

/** @throws SyntaxError */
export function parseJson(text: string): unknown {
  return JSON.parse(text, keepDigits as (key: string, value: unknown) => unknown);
}

const { rawJSON } = JSON as unknown as { rawJSON?: (text: string) => unknown };

// Libraries that are handed such values call JSON.stringify on them, which otherwise throws.
Object.defineProperty(BigInt.prototype, "toJSON", {
  configurable: true,
  value(this: bigint) {
    return rawJSON?.(String(this)) ?? Number(this);
  },
});

/** Serializes a value; BigInt values are written with all digits. */
export function writeJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, undefined, indent) ?? "null";
}
