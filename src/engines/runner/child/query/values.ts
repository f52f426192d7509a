/**
 * Converts database values to JSON: timestamps to ISO 8601 in UTC (a date to its midnight), bytes to base64, decimals
 * to the database's text (of PostgreSQL to numbers, where these have all digits), integers beyond a double to text.
 */
export function toPlain(value: unknown): unknown {
  if (typeof value === "bigint") return toInteger(value);
  if (typeof value !== "object" || value === null) return value;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? null : value.toISOString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString("base64");
  if (ArrayBuffer.isView(value)) return Array.from(value as unknown as ArrayLike<unknown>, toPlain);
  if (Array.isArray(value)) return value.map(toPlain);
  return value;
}

function toInteger(value: bigint): number | string {
  const number = Number(value);
  return Number.isSafeInteger(number) ? number : String(value);
}

/** Converts all values of a row. */
export function toPlainRow(row: object): Record<string, unknown> {
  return Object.fromEntries(Object.entries(row).map(([name, value]) => [name, toPlain(value)]));
}

const IS_BYTES = /^(bytea|(tiny|medium|long)?blob|(var)?binary)/;

/** Whether a type holds bytes, which arguments pass as base64. */
export function isBytes(type: string): boolean {
  return IS_BYTES.test(type);
}

/** Returns an argument as PostgreSQL's text form of the type; null for none. */
export function toPostgresText(value: unknown, type: string): string | null {
  if (value === undefined || value === null) return null;
  if (/^json/.test(type) && !/\]$/.test(type)) return JSON.stringify(value);
  if (Array.isArray(value)) return toArrayText(value, type.replace(/\s*\[\s*\]$/, ""));
  if (typeof value === "object") return JSON.stringify(value);
  if (isBytes(type)) return `\\x${Buffer.from(String(value), "base64").toString("hex")}`;
  return String(value);
}

/** Formats an array (PostgreSQL §8.15.2): elements quoted except NULL, nested arrays unquoted. */
function toArrayText(values: unknown[], type: string): string {
  const elements = values.map((value) => {
    if (Array.isArray(value)) return toArrayText(value, type);
    const text = toPostgresText(value, type);
    return text === null ? "NULL" : `"${text.replace(/["\\]/g, "\\$&")}"`;
  });
  return `{${elements.join(",")}}`;
}
