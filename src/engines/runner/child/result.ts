/** What main returned, as the server stores it: JSON text, or a stream that is handed on piece by piece. */
import { send } from "./channel.ts";

type AnyIterable = AsyncIterable<unknown> | Iterable<unknown>;

/** Generators, iterators and readable streams; data that merely can be iterated is a result. */
export function isStream(value: unknown): value is AnyIterable | Response {
  if (typeof value !== "object" || value === null) return false;
  if (value instanceof Response) return value.body !== null;
  if (Symbol.asyncIterator in value) return true;
  return Symbol.iterator in value && typeof (value as { next?: unknown }).next === "function";
}

/**
 * Hands on what a stream yields, piece by piece: text as it is, bytes as UTF-8, anything else as a line of JSON.
 * @returns the result beside the stream, JSON text: nothing, since the server has the whole; an empty stream is ""
 */
export async function drain(value: AnyIterable | Response, limit: number): Promise<string> {
  const source = value instanceof Response ? (value.body as unknown as AsyncIterable<unknown>) : value;
  const decoder = new TextDecoder();
  let size = 0;
  const tell = (text: string) => {
    size += text.length;
    if (size > limit) throw tooLarge(size, limit);
    if (text !== "") send({ t: "stream", text });
  };
  for await (const piece of source) {
    if (typeof piece === "string") tell(piece);
    else if (piece instanceof Uint8Array) tell(decoder.decode(piece, { stream: true }));
    else if (piece !== undefined && piece !== null) tell(`${toJson(piece, limit)}\n`);
  }
  tell(decoder.decode());
  return size === 0 ? '""' : "null";
}

/**
 * @param who made the value, for the message
 * @throws what is wrong with a value that is no JSON, or too large
 */
export function toJson(value: unknown, limit: number, who = "main"): string {
  if (value === undefined) return "null";
  const kind = typeof value === "object" && value !== null ? value.constructor?.name : typeof value;
  if (kind === "function" || kind === "symbol" || kind === "Map" || kind === "Set" || kind === "WeakMap") {
    throw notJson(`${who} returned a ${kind}`);
  }
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (cause) {
    const reason = (cause as Error).message.replace(/^JSON.stringify |\.$/g, "");
    throw notJson(`${who} returned a value that cannot be written down (${reason})`);
  }
  if (text === undefined) throw notJson(`${who} returned a value without a JSON form`);
  // Characters are at least a byte: the exact count is only taken near the limit.
  if (text.length > limit || (text.length * 3 > limit && Buffer.byteLength(text) > limit)) {
    throw tooLarge(Buffer.byteLength(text), limit);
  }
  return text;
}

function tooLarge(bytes: number, limit: number): Error {
  const [size, most] = [Math.ceil(bytes / 1_000_000), Math.floor(limit / 1_000_000)];
  return Object.assign(new Error(`the result is ${size} MB, more than the ${most} MB allowed`), {
    name: "ResultTooLarge",
    stack: "",
  });
}

function notJson(message: string): Error {
  return Object.assign(
    new Error(`${message}, which is not JSON: return plain objects, arrays, strings, numbers`),
    {
      name: "ResultNotSerializable",
      stack: "",
    },
  );
}
