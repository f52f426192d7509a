/**
 * Object store in an S3 bucket. Large files are uploaded in parts. Files are moved within the bucket, without passing
 * through the server.
 */
import { BadRequest } from "../../../../lib/errors.ts";
import type { Targets } from "../../../../platform/outgoing/targets.ts";
import { getStorageEndpoint, type S3Resource } from "../../../tenancy/workspaces/storage-records.ts";
import {
  type ByteRange,
  type FileInfo,
  guessContentType,
  type ObjectMetadata,
  type ObjectStore,
} from "../object-store.ts";
import { createS3Api, type S3Api, type S3Call } from "./s3-api.ts";

/** Part size of uploads; larger files are sent in parts. With S3's limit of 10,000 parts, a file may have 80 GB. */
const PART_BYTES = 8 * 1024 * 1024;
/** The most that S3 copies in one call. */
const MAX_COPY_BYTES = 5 * 1024 ** 3;

/**
 * Creates the store.
 * @param targets the allowed targets
 * @param copy_bytes larger files are moved in parts of this size
 * @throws BadRequest for an invalid bucket or endpoint
 */
export function createS3Store(
  resource: S3Resource,
  targets: Targets,
  copy_bytes = MAX_COPY_BYTES,
): ObjectStore {
  const api = createS3Api(resource, targets);

  async function facts(key: string): Promise<FileInfo> {
    const { headers } = await api.send({ method: "HEAD", key });
    return {
      size: Number(headers.get("content-length") ?? 0),
      content_type: headers.get("content-type") ?? guessContentType(key),
      content_disposition: headers.get("content-disposition") ?? undefined,
      content_encoding: headers.get("content-encoding") ?? undefined,
      etag: headers.get("etag") ?? `"${headers.get("last-modified")}"`,
      last_modified: new Date(headers.get("last-modified") ?? 0),
    };
  }

  const store: ObjectStore = {
    async put(key, body, wishes = {}) {
      const headers = toHeaders({ ...wishes, content_type: wishes.content_type ?? guessContentType(key) });
      const parts = splitIntoParts(body);
      try {
        const first = (await parts.next()).value ?? new Uint8Array();
        if (first.length < PART_BYTES) {
          await discardBody(api.send({ method: "PUT", key, headers, body: first }));
          return;
        }
        await uploadInParts(api, key, headers, async (send) => {
          let before = send({ body: first });
          for await (const part of parts) {
            // At most two parts are being sent at once.
            const sent = send({ body: part });
            await before;
            before = sent;
          }
          await before;
        });
      } finally {
        await parts.return(undefined);
      }
    },

    async get(key) {
      const found = await facts(key);
      return {
        info: found,
        async read(range) {
          const headers = { "if-match": found.etag, ...(range ? { range: formatRange(range) } : {}) };
          const response = await api.send({ method: "GET", key, headers });
          if (range && response.status !== 206) {
            await response.body?.cancel();
            throw new BadRequest(
              `bucket ${resource.bucket} at ${getStorageEndpoint(resource)} does not support reading parts of files`,
            );
          }
          return response.body ?? new Blob();
        },
      };
    },

    async delete(key) {
      await facts(key);
      await discardBody(api.send({ method: "DELETE", key }));
    },

    async move(from, to) {
      const { size, etag, ...told } = await facts(from);
      if (from === to) return;
      const source = {
        "x-amz-copy-source": `/${resource.bucket}/${from.split("/").map(encodeURIComponent).join("/")}`,
        "x-amz-copy-source-if-match": etag,
      };
      if (size <= copy_bytes) await api.text({ method: "PUT", key: to, headers: source });
      else {
        await uploadInParts(api, to, toHeaders(told), async (send) => {
          for (let start = 0; start < size; start += copy_bytes) {
            const end = Math.min(start + copy_bytes, size) - 1;
            await send({ headers: { ...source, "x-amz-copy-source-range": formatRange({ start, end }) } });
          }
        });
      }
      await store.delete(from);
    },

    async list({ prefix, marker, max_keys }) {
      const query: Record<string, string> = { "list-type": "2", prefix, "max-keys": String(max_keys) };
      if (marker !== undefined) query["start-after"] = marker;
      const answer = await fetchDocument(api, { method: "GET", query });
      const keys = (answer.Contents ?? []).map(({ Key }) => Key);
      return { keys, more: answer.IsTruncated === "true" };
    },
  };
  return store;
}

type SendPart = (part: { headers?: Record<string, string>; body?: Uint8Array }) => Promise<unknown>;

/** Uploads a file in parts; if one fails, the upload is aborted. */
async function uploadInParts(
  api: S3Api,
  key: string,
  headers: Record<string, string>,
  run: (send: SendPart) => Promise<void>,
): Promise<void> {
  const { UploadId: uploadId } = await fetchDocument(api, {
    method: "POST",
    key,
    query: { uploads: "" },
    headers,
  });
  if (!uploadId)
    throw new BadRequest("the bucket did not start a multipart upload: its response has no UploadId");
  const tags: Promise<string>[] = [];
  const send: SendPart = ({ headers = {}, body }) => {
    const query = { partNumber: String(tags.length + 1), uploadId };
    const tag = uploadPart(api, { key, query, headers, ...(body && { body }) });
    tags.push(tag);
    // Avoids unhandled rejections; `run` reports the first failure.
    tag.catch(() => {});
    return tag;
  };
  try {
    await run(send);
    const parts = (await Promise.all(tags)).map(
      (tag, index) => `<Part><PartNumber>${index + 1}</PartNumber><ETag>${tag}</ETag></Part>`,
    );
    const body = `<CompleteMultipartUpload>${parts.join("")}</CompleteMultipartUpload>`;
    await api.text({ method: "POST", key, query: { uploadId }, body });
  } catch (cause) {
    await Promise.allSettled(tags);
    await api.send({ method: "DELETE", key, query: { uploadId } }).catch(() => {});
    throw cause;
  }
}

interface Part {
  key: string;
  query: Record<string, string>;
  headers: Record<string, string>;
  body?: Uint8Array;
}

/** Uploads one part. @returns its ETag, needed to complete the upload */
async function uploadPart(api: S3Api, part: Part): Promise<string> {
  if (part.body === undefined) return (await fetchDocument(api, { method: "PUT", ...part })).ETag ?? "";
  return (await discardBody(api.send({ method: "PUT", ...part }))).headers.get("etag") ?? "";
}

async function discardBody(asked: Promise<Response>): Promise<Response> {
  const response = await asked;
  await response.arrayBuffer();
  return response;
}

/**
 * Splits the stream into parts of PART_BYTES; the last one may be shorter. Two buffers are reused in turns, since one
 * per part would pile up until garbage collection.
 */
async function* splitIntoParts(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, undefined> {
  const buffers: Uint8Array[] = [new Uint8Array(), new Uint8Array()];
  let at = 0;
  let bytes = 0;
  for await (let piece of pieces) {
    while (piece.length > 0) {
      const head = piece.subarray(0, PART_BYTES - bytes);
      buffers[at] = growBuffer(buffers[at]!, bytes, bytes + head.length);
      buffers[at]!.set(head, bytes);
      bytes += head.length;
      piece = piece.subarray(head.length);
      if (bytes < PART_BYTES) continue;
      yield buffers[at]!;
      at = 1 - at;
      bytes = 0;
    }
  }
  if (bytes > 0) yield buffers[at]!.subarray(0, bytes);
}

function growBuffer(buffer: Uint8Array, used: number, needed: number): Uint8Array {
  if (needed <= buffer.length) return buffer;
  const larger = Buffer.allocUnsafeSlow(Math.min(PART_BYTES, Math.max(needed, used * 2)));
  larger.set(buffer.subarray(0, used));
  return larger;
}

function toHeaders({
  content_type,
  content_disposition,
  content_encoding,
}: ObjectMetadata): Record<string, string> {
  const said = {
    "content-type": content_type,
    "content-disposition": content_disposition,
    "content-encoding": content_encoding,
  };
  return Object.fromEntries(Object.entries(said).filter((each): each is [string, string] => !!each[1]));
}

/** Formats the Range header (RFC 9110 §14.1.2). */
function formatRange({ start, end }: ByteRange): string {
  return `bytes=${start}-${end}`;
}

interface S3Document {
  UploadId?: string;
  ETag?: string;
  IsTruncated?: string;
  Contents?: { Key: string }[];
}

/** Sends a call and parses its XML response. @throws BadRequest for invalid XML */
async function fetchDocument(api: S3Api, call: S3Call): Promise<S3Document> {
  const text = await api.text(call);
  const { XMLParser } = await import("fast-xml-parser");
  const parser = new XMLParser({
    parseTagValue: false,
    trimValues: false,
    htmlEntities: true,
    removeNSPrefix: true,
    ignoreDeclaration: true,
    isArray: (name) => name === "Contents",
  });
  const [root] = Object.values(parser.parse(text) as Record<string, unknown>);
  return typeof root === "object" && root !== null ? root : {};
}
