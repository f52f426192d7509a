/**
 * multipart/form-data (RFC 7578) as arguments. Text fields are strings. Files are stored in the workspace's object
 * storage as they arrive; their argument is an array of references.
 */
import { pipeline } from "node:stream/promises";
import type { BusboyFileStream, BusboyInstance } from "@fastify/busboy";
import { BadRequest, SvcError } from "../../../lib/errors.ts";
import type { WorkspaceContext } from "../../../platform/app/context.ts";
import { requireNotDraining } from "../../../platform/http/execute.ts";
import { readChunks } from "../../../platform/http/input.ts";
import { createFileKey, getFileExtension, type ObjectStore } from "../../assets/storage/object-store.ts";
import { openStore } from "../../assets/storage/service.ts";

/** Maximum parts of a form, and maximum bytes of a part's headers. */
const MAX_PARTS = 1_000;
const MAX_PART_HEADER_BYTES = 16_384;

interface FormPart {
  name: string;
  /** The text, or the file's reference once it is stored; undefined for an empty file field. */
  value: string | Promise<{ s3: string } | undefined>;
}

interface Uploads {
  store: ObjectStore;
  keys: string[];
}

/** Uploads of requests whose jobs are not stored yet. */
const uploadsOf = new WeakMap<Request, Uploads>();

/**
 * Reads a form and stores its files, which belong to the caller's request until the job is stored. A repeated name
 * gives an array of values, a file field always does.
 * @param limit maximum bytes of the body, files included
 * @param keep receives every piece of the raw body
 * @throws BadRequest without an object storage and for an invalid form, PayloadTooLarge; uploads are deleted then
 */
export async function readFormArguments(
  ctx: WorkspaceContext,
  request: Request,
  limit: number,
  keep?: (piece: Uint8Array) => void,
): Promise<Record<string, unknown>> {
  requireNotDraining(ctx.app);
  const uploads: Uploads = { store: await openStore(ctx), keys: [] };
  uploadsOf.set(ctx.request, uploads);
  try {
    const args = await collectArguments(
      await readParts(request, copyPieces(readChunks(request, limit), keep), limit, uploads),
    );
    requireNotDraining(ctx.app);
    return args;
  } catch (error) {
    await discardUploads(ctx.request);
    throw error;
  }
}

async function* copyPieces(body: AsyncIterable<Uint8Array>, keep: ((piece: Uint8Array) => void) | undefined) {
  for await (const piece of body) {
    keep?.(piece);
    yield piece;
  }
}

/** Deletes a request's uploads if no job was stored for it. */
export async function discardUploads(request: Request): Promise<void> {
  const { store, keys } = uploadsOf.get(request) ?? {};
  uploadsOf.delete(request);
  for (const key of keys ?? []) await store!.delete(key).catch(() => {});
}

/** Reads all parts. It resolves once all files are stored, and fails once no upload is in progress. */
async function readParts(
  request: Request,
  body: AsyncIterable<Uint8Array>,
  limit: number,
  uploads: Uploads,
): Promise<FormPart[]> {
  const parser = await createParser(request, limit);
  const parts: FormPart[] = [];
  let reading: BusboyFileStream | undefined;
  let failure: unknown;
  const add = (name: string | undefined, value: FormPart["value"]) => {
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
      // A broken body breaks the file in it too; the parser reports that error.
      if (!torn) failure = error;
      parser.destroy(error);
    });
    add(name, value);
  });
  // The pipeline reports the first error; later ones need a listener or they would be thrown.
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
    throw error instanceof SvcError ? error : invalidForm(error);
  }
}

async function createParser(request: Request, limit: number): Promise<BusboyInstance> {
  // Loaded with the first form: most servers never receive one.
  const { Busboy } = await import("@fastify/busboy");
  const limits = {
    parts: MAX_PARTS,
    fieldSize: limit,
    fieldNameSize: MAX_PART_HEADER_BYTES,
    headerSize: MAX_PART_HEADER_BYTES,
  };
  try {
    return new Busboy({ headers: { "content-type": request.headers.get("content-type")! }, limits });
  } catch (cause) {
    throw invalidForm(cause);
  }
}

function invalidForm(cause: unknown): BadRequest {
  return new BadRequest(`the body is not valid form-data: ${(cause as Error).message}`, {
    cause,
  });
}

/** Stores a file. Browsers send an empty file field as a file without name and bytes, of which nothing is stored. */
async function storeFile(
  stream: BusboyFileStream,
  filename: string,
  { store, keys }: Uploads,
): Promise<{ s3: string } | undefined> {
  const key = createFileKey(getFileExtension(filename));
  keys.push(key);
  await store.put(key, stream);
  if (filename !== "" || stream.bytesRead > 0) return { s3: key };
  await store.delete(key);
  return undefined;
}

async function collectArguments(parts: FormPart[]): Promise<Record<string, unknown>> {
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
