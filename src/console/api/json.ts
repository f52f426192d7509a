/** JSON without loss of precision: integers beyond 2^53 become BigInt. */

type Reviver = (key: string, value: unknown, context?: { source?: string }) => unknown;

const keepDigits: Reviver = (_key, value, context) => {
  if (typeof value !== "number" || Number.isSafeInteger(value)) return value;
  const source = context?.source;
  return source !== undefined && /^-?\d+$/.test(source) ? BigInt(source) : value;
};

/** Parses JSON; integers beyond 2^53 become BigInt. @throws SyntaxError */
export function parseJson(text: string): unknown {
  return JSON.parse(text, keepDigits as (key: string, value: unknown) => unknown);
}

const { rawJSON } = JSON as unknown as { rawJSON?: (text: string) => unknown };

// Libraries call JSON.stringify on such values, which otherwise throws.
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

export type Fields = Record<string, unknown>;

export const isRecord = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export const filterRecords = (value: unknown): Fields[] =>
  Array.isArray(value) ? value.filter(isRecord) : [];

/** Returns the value at a path of names and indexes. */
export function getAt(value: unknown, path: readonly (string | number)[]): unknown {
  let found = value;
  for (const name of path) {
    if (typeof found !== "object" || found === null || !Object.hasOwn(found, name)) return undefined;
    found = (found as Fields)[name];
  }
  return found;
}

/** Whether two JSON values are equal; the order of fields does not matter. */
export function isEqualJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((each, index) => isEqualJson(each, b[index]));
  }
  if (!isRecord(a) || !isRecord(b)) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && isEqualJson(a[name], b[name]))
  );
}
