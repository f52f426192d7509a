/**
 * multipart/form-data (RFC 7578) as arguments: texts are strings, files go to the workspace's object storage as they
 * arrive, and their argument is an array of references to them.
 */
import { pipeline } from "node:stream/promises";
import type { BusboyFileStream, BusboyInstance } from "@fastify/busboy";
import { BadRequest, SvcError } from "../../../lib/errors.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { refuseWhileDraining } from "../../../platform/http/execute.ts";
import { readPieces } from "../../../platform/http/input.ts";
import { openStore } from "../../assets/storage/service.ts";
import { extensionOf, newKey, type ObjectStore } from "../../assets/storage/store.ts";

/** Most parts of one form, and the longest head of a part in bytes. */
const MAX_PARTS = 1_000;
const MAX_HEAD = 16_384;

interface Part {
  name: string;
  /** A text, or the reference to a file once it is stored; undefined for a file field that was left empty. */
  value: string | Promise<{ s3: string } | undefined>;
}

interface Uploads {
  store: ObjectStore;
  keys: string[];
}

/** What requests have uploaded whose jobs are not stored yet. */
const uploadsOf = new WeakMap<Request, Uploads>();

/**
 * Reads the whole form, whose uploads belong to the caller's request. A name given several times has the array of its values, a name with a file always an array.
 * @param limit most bytes of body, files included
 * @param keep is handed all that was sent, piece by piece
 * @throws BadRequest without a storage and for what is no form, PayloadTooLarge; what was uploaded is deleted then
 */
export async function readForm(
  ctx: WorkspaceContext,
  request: Request,
  limit: number,
  keep?: (piece: Uint8Array) => void,
): Promise<Record<string, unknown>> {
  refuseWhileDraining(ctx.app);
  const uploads: Uploads = { store: await openStore(ctx), keys: [] };
  uploadsOf.set(ctx.request, uploads);
  try {
    const args = await toArguments(
      await readParts(request, keptPieces(readPieces(request, limit), keep), limit, uploads),
    );
    refuseWhileDraining(ctx.app);
    return args;
  } catch (error) {
    await discardUploads(ctx.request);
    throw error;
  }
}

async function* keptPieces(body: AsyncIterable<Uint8Array>, keep: ((piece: Uint8Array) => void) | undefined) {
  for await (const piece of body) {
    keep?.(piece);
    yield piece;
  }
}

/** Deletes what a request has uploaded, when it comes to no job. */
export async function discardUploads(request: Request): Promise<void> {
  const { store, keys } = uploadsOf.get(request) ?? {};
  uploadsOf.delete(request);
  for (const key of keys ?? []) await store!.delete(key).catch(() => {});
}

/** Resolves once all of the body is read and all files are stored, or fails once nothing is under way any more. */
async function readParts(
  request: Request,
  body: AsyncIterable<Uint8Array>,
  limit: number,
  uploads: Uploads,
): Promise<Part[]> {
  const parser = await newParser(request, limit);
  const parts: Part[] = [];
  let reading: BusboyFileStream | undefined;
  let failure: unknown;
  const add = (name: string | undefined, value: Part["value"]) => {
    if (name === undefined) parser.destroy(new BadRequest("a part of the form has no name"));
    else parts.push({ name, value });
  };
  parser.on("field", add);
  parser.on("file", (name, stream, filename) => {
    let torn = false;
    reading = stream.on("error", () => {
      torn = true;
    });
    const value = storeFile(stream, filename ?? "", uploads);
    value.catch((error) => {
      // What breaks the body breaks the file in it too: the parser tells of that.
      if (!torn) failure = error;
      parser.destroy(error);
    });
    add(name, value);
  });
  // The pipeline tells of the first one; nobody listens any more when others follow.
  parser.on("error", () => {});
  parser.on("partsLimit", () =>
    parser.destroy(new BadRequest(`the form has more than ${MAX_PARTS} parts, the most this server accepts`)),
  );
  try {
    await pipeline(body, parser);
    await Promise.all(parts.map(({ value }) => value));
    return parts;
  } catch (error) {
    reading?.destroy(error as Error);
    await Promise.allSettled(parts.map(({ value }) => value));
    if (failure) throw failure;
    throw error instanceof SvcError ? error : notAForm(error);
  }
}

async function newParser(request: Request, limit: number): Promise<BusboyInstance> {
  // Most servers never see a form: it is loaded with the first one.
  const { Busboy } = await import("@fastify/busboy");
  const limits = {
    parts: MAX_PARTS,
    fieldSize: limit,
    fieldNameSize: MAX_HEAD,
    headerSize: MAX_HEAD,
  };
  try {
    return new Busboy({ headers: { "content-type": request.headers.get("content-type")! }, limits });
  } catch (cause) {
    throw notAForm(cause);
  }
}

function notAForm(cause: unknown): BadRequest {
  return new BadRequest(`the body is not the form-data it says it is: ${(cause as Error).message}`, {
    cause,
  });
}

/** A browser sends a file field that was left empty as a file without name and bytes: nothing is stored of that. */
async function storeFile(
  stream: BusboyFileStream,
  filename: string,
  { store, keys }: Uploads,
): Promise<{ s3: string } | undefined> {
  const key = newKey(extensionOf(filename));
  keys.push(key);
  await store.put(key, stream);
  if (filename !== "" || stream.bytesRead > 0) return { s3: key };
  await store.delete(key);
  return undefined;
}

async function toArguments(parts: Part[]): Promise<Record<string, unknown>> {
  const args = new Map<string, unknown[] | string>();
  for (const { name, value } of parts) {
    const known = args.get(name);
    if (typeof value === "string" && known === undefined) {
      args.set(name, value);
      continue;
    }
    const values = known === undefined ? [] : typeof known === "string" ? [known] : known;
    const settled = await value;
    if (settled !== undefined) values.push(settled);
    args.set(name, values);
  }
  return Object.fromEntries(args);
}
