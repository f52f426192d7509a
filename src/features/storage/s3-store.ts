/**
 * A bucket of Amazon S3 or of a service that speaks its interface. Bun's client signs, lists, deletes and sends files
 * in parts; reading goes through a signed URL, which tells all headers of the file in the same answer.
 */
import { S3Client } from "bun";
import { BadRequest, NotFound, SvcError, Unavailable } from "../../errors.ts";
import { endpointOf, type S3Resource } from "./records.ts";
import { type ByteRange, type FileFacts, type ObjectStore, typeOf } from "./store.ts";

/** A file of more than this is sent in parts of this size; with 10,000 parts at most, it may have 80 GB. */
const PART_BYTES = 8 * 1024 * 1024;
/** Parts held in memory at once. */
const PARTS_AT_ONCE = 2;
/** How long a signed URL is good for: it is used at once. */
const SIGNED_S = 300;

/** @throws BadRequest when the server's own environment would be mixed into the requests */
export function s3Store(resource: S3Resource): ObjectStore {
  const client = clientOf(resource);
  const place = `bucket ${resource.bucket} at ${endpointOf(resource)}`;
  const explain = (key: string) => (cause: unknown) => {
    throw explained(cause, place, key);
  };

  async function request(method: "GET" | "HEAD", key: string, headers: Record<string, string> = {}) {
    const response = await fetch(client.presign(key, { method, expiresIn: SIGNED_S }), {
      method,
      headers: { "accept-encoding": "identity", ...headers },
      redirect: "manual",
      // The bytes are handed on as they are kept.
      decompress: false,
    }).catch(explain(key));
    if (response.ok) return response;
    await response.body?.cancel();
    throw refused(response.status, place, key);
  }

  async function facts(key: string): Promise<FileFacts> {
    const { headers } = await request("HEAD", key);
    return {
      size: Number(headers.get("content-length") ?? 0),
      content_type: headers.get("content-type") ?? typeOf(key),
      content_disposition: headers.get("content-disposition") ?? undefined,
      content_encoding: headers.get("content-encoding") ?? undefined,
      etag: headers.get("etag") ?? `"${headers.get("last-modified")}"`,
      last_modified: new Date(headers.get("last-modified") ?? 0),
    };
  }

  const store: ObjectStore = {
    async put(key, body, wishes = {}) {
      const options = {
        type: wishes.content_type ?? typeOf(key),
        contentDisposition: wishes.content_disposition,
        contentEncoding: wishes.content_encoding,
        partSize: PART_BYTES,
        queueSize: PARTS_AT_ONCE,
        retry: 3,
      };
      // A stream that fails makes the client give up the parts it has sent, unlike a writer that is ended early.
      await client.write(key, new Response(toStream(body)), options).catch(explain(key));
    },

    async get(key) {
      const found = await facts(key);
      return {
        facts: found,
        async read(range) {
          const headers = { "if-match": found.etag, ...(range ? { range: toHeader(range) } : {}) };
          const response = await request("GET", key, headers);
          if (range && response.status !== 206) {
            await response.body?.cancel();
            throw new BadRequest(`${place} serves no parts of files`);
          }
          return response.body ?? new Blob();
        },
      };
    },

    async delete(key) {
      await facts(key);
      await client.delete(key).catch(explain(key));
    },

    async move(from, to) {
      const file = await store.get(from);
      if (from === to) return;
      const { content_type, content_disposition, content_encoding } = file.facts;
      const bytes = new Response(await file.read()).body!;
      await store.put(to, bytes, { content_type, content_disposition, content_encoding });
      await store.delete(from);
    },

    async list({ prefix, marker, max_keys }) {
      const after = marker === undefined ? {} : { startAfter: marker };
      const answer = await client.list({ prefix, maxKeys: max_keys, ...after }).catch(explain(prefix));
      const keys = (answer.contents ?? []).map((each) => each.key);
      return { keys, more: answer.isTruncated ?? false };
    },
  };
  return store;
}

/**
 * What a resource leaves open, Bun's client would take from the environment of the server: everything is settled here.
 * @throws BadRequest for a session token, which it would send along to any address
 */
function clientOf(resource: S3Resource): S3Client {
  const { bucket, region, accessKey, secretKey, pathStyle } = resource;
  const token = ["S3_SESSION_TOKEN", "AWS_SESSION_TOKEN"].find((name) => process.env[name]);
  if (token) {
    throw new BadRequest(
      `${token} is set for the server, and would go to every bucket: start the server without it`,
    );
  }
  const endpoint = endpointOf(resource);
  return new S3Client({
    bucket,
    region,
    accessKeyId: accessKey,
    secretAccessKey: secretKey,
    endpoint: pathStyle ? endpoint : endpoint.replace("://", `://${bucket}.`),
    virtualHostedStyle: !pathStyle,
  });
}

/** The pieces as a stream that asks for the next one when the last is gone. */
function toStream(pieces: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = pieces[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await iterator.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      async cancel() {
        await iterator.return?.();
      },
    },
    { highWaterMark: 0 },
  );
}

/** RFC 9110 §14.1.2 */
function toHeader({ start, end }: ByteRange): string {
  return `bytes=${start}-${end}`;
}

function refused(status: number, place: string, key: string): SvcError {
  switch (status) {
    case 404:
      return new NotFound(`file ${key}`);
    case 401:
    case 403:
      return new BadRequest(`${place} refuses the keys of the resource`);
    case 412:
      return new Unavailable(`file ${key} was replaced at this moment: read it again`);
    default:
      return status < 500
        ? new BadRequest(`${place} answers with status ${status}`)
        : new Unavailable(`${place} answers with status ${status}`);
  }
}

/** The message of a failed call may quote signed URLs: only its code is told. */
function explained(cause: unknown, place: string, key: string): SvcError {
  if (cause instanceof SvcError) return cause;
  const { code = "unknown" } = cause as { code?: string };
  switch (code) {
    case "NoSuchKey":
      return new NotFound(`file ${key}`);
    case "NoSuchBucket":
      return new BadRequest(`${place} does not exist`, { cause });
    case "AccessDenied":
    case "InvalidAccessKeyId":
    case "SignatureDoesNotMatch":
      return new BadRequest(`${place} refuses the keys of the resource (${code})`, { cause });
    default:
      return new Unavailable(`${place} cannot be used now (${code})`, { cause });
  }
}
