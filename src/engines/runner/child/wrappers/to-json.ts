/** JSON text of what scripts return. Bun and Deno both run this. */
import { Buffer } from "node:buffer";

/**
 * Serializes a value. Beside what JSON has, a Map becomes an object, a Set or typed array an array, a BigInt its digits
 * as a text, and bytes base64.
 * @param who the function that returned it, for the message
 * @throws an error if the value is not JSON or too large
 */
export function toJson(value: unknown, limit: number, who = "main"): string {
  if (value === undefined) return "null";
  const kind = typeof value === "object" && value !== null ? value.constructor?.name : typeof value;
  if (kind === "function" || kind === "symbol" || kind === "WeakMap") {
    throw notSerializableError(`${who} returned a ${kind}`);
  }
  let text: string | undefined;
  try {
    text = stringify(value);
  } catch (cause) {
    const reason = (cause as Error).message.replace(/^JSON.stringify |\.$/g, "");
    throw notSerializableError(`${who} returned a value that cannot be written down (${reason})`);
  }
  if (text === undefined) throw notSerializableError(`${who} returned a value without a JSON form`);
  // A character is at least one byte, so the exact size is computed only near the limit.
  if (text.length > limit || (text.length * 3 > limit && Buffer.byteLength(text) > limit)) {
    throw createResultTooLargeError(Buffer.byteLength(text), limit);
  }
  return text;
}

/**
 * Traces of values that need conversion in JSON.stringify's output: an empty object, or the bytes of an array
 * or Buffer.
 */
const TRACES = /\{(?:\}|"0":|"type":"Buffer")/;

/** Converts values where the plain text has a trace of one, since a replacer takes several times as long. */
function stringify(value: unknown): string | undefined {
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    // A BigInt; or a value that refers to itself, at which the second attempt fails too.
    if (!(cause instanceof TypeError)) throw cause;
    return JSON.stringify(value, convert);
  }
  return text !== undefined && typeof value === "object" && TRACES.test(text)
    ? JSON.stringify(value, convert)
    : text;
}

/**
 * Converts one value while it is serialized (a replacer of JSON.stringify). @param value the property's value, or what
 * its own toJSON has made of it
 */
function convert(this: Record<string, unknown>, name: string, value: unknown): unknown {
  if (typeof value === "bigint") return String(value);
  const is = this[name];
  if (is instanceof Uint8Array)
    return Buffer.from(is.buffer, is.byteOffset, is.byteLength).toString("base64");
  if (is !== value) return value;
  if (is instanceof Map) return Object.fromEntries(is);
  if (is instanceof Set) return [...is];
  if (ArrayBuffer.isView(is) && !(is instanceof DataView)) return [...(is as Float64Array)];
  if (is instanceof ArrayBuffer) return Buffer.from(is).toString("base64");
  return value;
}

export function createResultTooLargeError(bytes: number, limit: number): Error {
  const [size, most] = [Math.ceil(bytes / 1_000_000), Math.floor(limit / 1_000_000)];
  return Object.assign(new Error(`the result is ${size} MB, more than the ${most} MB allowed`), {
    name: "ResultTooLarge",
    stack: "",
  });
}

function notSerializableError(message: string): Error {
  return Object.assign(
    new Error(`${message}, which is not JSON: return plain objects, arrays, strings, numbers`),
    {
      name: "ResultNotSerializable",
      stack: "",
    },
  );
}
