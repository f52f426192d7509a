/** Parses and validates an operation's input from a request, with precise error messages. */
import { setImmediate as immediate } from "node:timers/promises";
import { LARGE_BYTES } from "../../lib/async/byte-semaphore.ts";
import { BadRequest, InvalidInput, PayloadTooLarge, SvcError } from "../../lib/errors.ts";
import { MAX_JSON_DEPTH } from "../../lib/json/depth.ts";
import { parseSchemaJson } from "../../lib/json/json.ts";
import { LONG_JSON_CHARACTERS } from "../../lib/json/long-json.ts";
import { describeIssues } from "../../lib/validation-messages.ts";
import type * as z from "../../lib/zod/z.ts";
import { acquireBodySlot } from "./large-bodies.ts";
import { type Operation, requiresBody } from "./operation.ts";

/** Parsed empty queries by schema: most calls have no query. */
const emptyQueries = new WeakMap<z.ZodType, object>();

/** Parses the query fields of a call. Each call gets an object of its own. */
export function parseQuery(op: Operation, search: string): unknown {
  if (!op.query) return undefined;
  if (search.length <= 1) return { ...parseEmptyQuery(op.query) };
  const raw: Record<string, string> = {};
  for (const [name, value] of new URLSearchParams(search)) raw[name] = value;
  if (search.includes("%00")) requireNoNul("query", raw);
  return parseWithSchema("query", op.query, raw);
}

function parseEmptyQuery(schema: z.ZodType): object {
  let parsed = emptyQueries.get(schema);
  if (!parsed) {
    parsed = parseWithSchema("query", schema, {}) as object;
    emptyQueries.set(schema, parsed);
  }
  return parsed;
}

/** Reads and validates the JSON body, at most `limit` bytes. */
export async function parseBody(op: Operation, request: Request, limit: number): Promise<unknown> {
  if (!op.body) return undefined;
  const text = await readText(request, limit);
  // A long body yields to other requests between the steps.
  const isLong = text.length > LONG_JSON_CHARACTERS;
  if (isLong) await immediate();
  const value = parseBodyText(op, text);
  if (isLong) await immediate();
  if (text.includes("\\u0000")) requireNoNul("body", value);
  return parseWithSchema("body", op.body, value);
}

function parseBodyText(op: Operation, text: string): unknown {
  if (text.trim() === "") {
    if (requiresBody(op)) throw new BadRequest("the body is missing: send JSON");
    return undefined;
  }
  try {
    return parseSchemaJson(text, "the body", MAX_JSON_DEPTH);
  } catch (cause) {
    if (cause instanceof BadRequest) throw cause;
    throw new BadRequest(`the body is not JSON: ${(cause as Error).message}`);
  }
}

/** Rejects NUL characters at any depth, since databases cannot store them in text. @throws BadRequest */
export function requireNoNul(where: string, value: unknown): void {
  if (typeof value === "string" && value.includes("\0")) {
    throw new BadRequest(`the ${where} contains a NUL character, which cannot be stored`);
  }
  if (typeof value !== "object" || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    requireNoNul(where, name);
    requireNoNul(where, inner);
  }
}

export function parseWithSchema(where: "query" | "body", schema: z.ZodType, value: unknown): unknown {
  const result = schema.safeParse(value);
  if (!result.success) throw new InvalidInput(describeIssues(where, result.error, value));
  return result.data;
}

/** A request or a response. */
type HttpMessage = Pick<Request, "headers" | "body" | "arrayBuffer">;

/**
 * Reads the whole body as bytes.
 * @throws PayloadTooLarge as soon as more than `limit` bytes are announced or received
 */
export async function readBytes(request: HttpMessage, limit: number): Promise<Uint8Array> {
  const announced = request.headers.get("content-length");
  if (announced !== null) {
    if (Number(announced) > limit) throw createPayloadTooLarge(limit);
    return awaitBodySlot(request, new Uint8Array(await request.arrayBuffer()));
  }
  const pieces: Uint8Array[] = [];
  for await (const piece of readChunks(request, limit)) pieces.push(piece);
  return awaitBodySlot(request, Buffer.concat(pieces));
}

/**
 * Reads the body in chunks as they arrive, with backpressure on the sender.
 * @throws PayloadTooLarge as soon as more than `limit` bytes are announced or received; BadRequest if the sender
 * disconnects
 */
export async function* readChunks(request: HttpMessage, limit: number): AsyncGenerator<Uint8Array> {
  if (Number(request.headers.get("content-length") ?? 0) > limit) throw createPayloadTooLarge(limit);
  if (!request.body) return;
  let size = 0;
  try {
    for await (const piece of request.body as unknown as AsyncIterable<Uint8Array>) {
      size += piece.byteLength;
      if (size > limit) throw createPayloadTooLarge(limit);
      yield piece;
    }
  } catch (cause) {
    throw cause instanceof SvcError
      ? cause
      : new BadRequest("the connection was closed before the end of the body", { cause });
  }
}

export function readText(request: Request, limit: number): Promise<string> {
  const announced = request.headers.get("content-length");
  if (announced !== null) {
    if (Number(announced) > limit) return Promise.reject(createPayloadTooLarge(limit));
    if (Number(announced) < LARGE_BYTES) return request.text();
  }
  return readLongText(request, limit);
}

async function readLongText(request: Request, limit: number): Promise<string> {
  return new TextDecoder().decode(await readBytes(request, limit));
}

async function awaitBodySlot(request: HttpMessage, bytes: Uint8Array): Promise<Uint8Array> {
  if (bytes.length >= LARGE_BYTES) await acquireBodySlot(request, bytes.length);
  return bytes;
}

function createPayloadTooLarge(limit: number): PayloadTooLarge {
  return new PayloadTooLarge(
    `the body is larger than ${Math.floor(limit / 1_000_000)} MB, the most this server accepts`,
  );
}
