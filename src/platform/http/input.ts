/** Reads an operation's input out of a request, and says exactly what is wrong with it. */
import type { z } from "zod";
import { LARGE } from "../../lib/async/large-work.ts";
import { BadRequest, InvalidInput, PayloadTooLarge, SvcError } from "../../lib/errors.ts";
import { refuseDeep } from "../../lib/json/depth.ts";
import { parseFields } from "../../lib/json/json.ts";
import { explain } from "../../lib/validation-messages.ts";
import { enterBody } from "./large-bodies.ts";
import { needsBody, type Operation } from "./operation.ts";

export function parseQuery(op: Operation, search: string): unknown {
  if (!op.query) return undefined;
  const raw: Record<string, string> = {};
  if (search.length > 1) for (const [name, value] of new URLSearchParams(search)) raw[name] = value;
  if (search.includes("%00")) refuseNul("query", raw);
  return checked("query", op.query, raw);
}

/** Reads and checks the JSON body, never more than `limit` bytes of it. */
export async function parseBody(op: Operation, request: Request, limit: number): Promise<unknown> {
  if (!op.body) return undefined;
  const text = await readText(request, limit);
  refuseDeep(text, "the body");
  let value: unknown;
  if (text.trim() === "" && needsBody(op)) throw new BadRequest("the body is missing: send JSON");
  try {
    value = text.trim() === "" ? undefined : parseFields(text);
  } catch (cause) {
    throw new BadRequest(`the body is not JSON: ${(cause as Error).message}`);
  }
  if (text.includes("\\u0000")) refuseNul("body", value);
  return checked("body", op.body, value);
}

/** No database takes a NUL in text. @throws BadRequest when `value` holds one, at any depth */
export function refuseNul(where: string, value: unknown): void {
  if (typeof value === "string" && value.includes("\0")) {
    throw new BadRequest(`the ${where} holds a NUL character, which cannot be stored`);
  }
  if (typeof value !== "object" || value === null) return;
  for (const [name, inner] of Object.entries(value)) {
    refuseNul(where, name);
    refuseNul(where, inner);
  }
}

export function checked(where: "query" | "body", schema: z.ZodType, value: unknown): unknown {
  const result = schema.safeParse(value);
  if (!result.success) throw new InvalidInput(explain(where, result.error, value));
  return result.data;
}

/** A request or a response. */
type Message = Pick<Request, "headers" | "body" | "arrayBuffer">;

/**
 * The whole body as bytes.
 * @throws PayloadTooLarge as soon as more than `limit` bytes are announced or have arrived
 */
export async function readBytes(request: Message, limit: number): Promise<Uint8Array> {
  const announced = request.headers.get("content-length");
  if (announced !== null) {
    if (Number(announced) > limit) throw tooLarge(limit);
    return entered(request, new Uint8Array(await request.arrayBuffer()));
  }
  const pieces: Uint8Array[] = [];
  for await (const piece of readPieces(request, limit)) pieces.push(piece);
  return entered(request, Buffer.concat(pieces));
}

/**
 * The body piece by piece, as it arrives: the sender is slowed down to the pace at which the pieces are taken.
 * @throws PayloadTooLarge as soon as more than `limit` bytes are announced or have arrived, BadRequest when the sender
 * breaks off
 */
export async function* readPieces(request: Message, limit: number): AsyncGenerator<Uint8Array> {
  if (Number(request.headers.get("content-length") ?? 0) > limit) throw tooLarge(limit);
  if (!request.body) return;
  let size = 0;
  try {
    for await (const piece of request.body as unknown as AsyncIterable<Uint8Array>) {
      size += piece.byteLength;
      if (size > limit) throw tooLarge(limit);
      yield piece;
    }
  } catch (cause) {
    throw cause instanceof SvcError ? cause : new BadRequest("the body broke off before its end", { cause });
  }
}

export async function readText(request: Request, limit: number): Promise<string> {
  const announced = request.headers.get("content-length");
  if (announced !== null) {
    if (Number(announced) > limit) throw tooLarge(limit);
    if (Number(announced) < LARGE) return request.text();
  }
  return new TextDecoder().decode(await readBytes(request, limit));
}

async function entered(request: Message, bytes: Uint8Array): Promise<Uint8Array> {
  if (bytes.length >= LARGE) await enterBody(request, bytes.length);
  return bytes;
}

function tooLarge(limit: number): PayloadTooLarge {
  return new PayloadTooLarge(
    `the body is larger than ${Math.floor(limit / 1_000_000)} MB, the most this server accepts`,
  );
}
