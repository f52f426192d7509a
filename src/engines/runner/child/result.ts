/** Results of main, as the server stores them: JSON text, or a stream sent in chunks. */
import { sendToServer } from "./channel.ts";
import { createResultTooLargeError, toJson } from "./wrappers/to-json.ts";

type AnyIterable = AsyncIterable<unknown> | Iterable<unknown>;

/** Whether a value is a generator, iterator or readable stream. Merely iterable data is a result. */
export function isStream(value: unknown): value is AnyIterable | Response {
  if (typeof value !== "object" || value === null) return false;
  if (value instanceof Response) return value.body !== null;
  if (Symbol.asyncIterator in value) return true;
  return Symbol.iterator in value && typeof (value as { next?: unknown }).next === "function";
}

/**
 * Sends a stream in chunks: text as it is, bytes as UTF-8, any other value as a line of JSON.
 * @returns the result beside the stream as JSON text: null, or "" for an empty stream
 */
export async function streamResult(value: AnyIterable | Response, limit: number): Promise<string> {
  const source = value instanceof Response ? (value.body as unknown as AsyncIterable<unknown>) : value;
  const decoder = new TextDecoder();
  let size = 0;
  const tell = (text: string) => {
    size += text.length;
    if (size > limit) throw createResultTooLargeError(size, limit);
    if (text !== "") sendToServer({ t: "stream", text });
  };
  for await (const piece of source) {
    if (typeof piece === "string") tell(piece);
    else if (piece instanceof Uint8Array) tell(decoder.decode(piece, { stream: true }));
    else if (piece !== undefined && piece !== null) tell(`${toJson(piece, limit)}\n`);
  }
  tell(decoder.decode());
  return size === 0 ? '""' : "null";
}
