/**
 * Requests to the S3 API, signed with AWS Signature Version 4. They use the server's HTTP client, which checks target
 * addresses before connecting.
 */

import { AwsV4Signer } from "aws4fetch";
import { type Backoff, retryWithBackoff } from "../../../../lib/async/retry.ts";
import { BadRequest, NotFound, type SvcError, Unavailable } from "../../../../lib/errors.ts";
import { getUrlHost } from "../../../../lib/network.ts";
import { OutgoingError, openRequest, TargetRefused } from "../../../../platform/outgoing/connect.ts";
import { readAnswer } from "../../../../platform/outgoing/request.ts";
import type { Targets } from "../../../../platform/outgoing/targets.ts";
import { getStorageEndpoint, type S3Resource } from "../../../tenancy/workspaces/storage-records.ts";

/** Timeout until a response starts; request bodies are at most one part of a file. */
const RESPONSE_TIMEOUT_MS = 120_000;
/** Upper limit of XML responses; the longest is a list of 1,000 keys. */
const MAX_XML_BYTES = 16_000_000;
/** Attempts of a call that fails with a transient error. */
const MAX_ATTEMPTS = 4;
const BACKOFF: Backoff = { first_ms: 100, max_ms: 400, jitter: 0.5 };

export interface S3Call {
  method: "GET" | "HEAD" | "POST" | "PUT" | "DELETE";
  /** Absent: a call on the bucket itself. */
  key?: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
}

export interface S3Api {
  /** Sends a signed request. @throws SvcError unless the response is successful */
  send(call: S3Call): Promise<Response>;
  /** Sends a call whose response is XML. S3 reports some errors with status 200. */
  text(call: S3Call): Promise<string>;
}

/** Creates a client of the S3 API for one bucket. @throws BadRequest for an invalid bucket or endpoint */
export function createS3Api(resource: S3Resource, targets: Targets): S3Api {
  const { bucket, region, accessKey, secretKey } = resource;
  const base = formatBucketUrl(resource);
  const host = getUrlHost(new URL(base));
  const place = `bucket ${bucket} at ${getStorageEndpoint(resource)}`;
  const cache = new Map<string, ArrayBuffer>();

  async function once({ method, key, query, headers, body }: S3Call): Promise<Response> {
    const path = key === undefined ? "" : `/${key.split("/").map(encodeRfc3986).join("/")}`;
    const search = Object.entries(query ?? {}).map(([name, value]) => `${name}=${encodeRfc3986(value)}`);
    const url = `${base}${path}${search.length > 0 ? `?${search.join("&")}` : ""}`;
    const signer = new AwsV4Signer({
      url,
      method,
      headers: { "accept-encoding": "identity", ...headers },
      accessKeyId: accessKey,
      secretAccessKey: secretKey,
      service: "s3",
      region,
      cache,
    });
    const signed = await signer.sign();
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), RESPONSE_TIMEOUT_MS);
    try {
      return await openRequest(
        {
          url,
          method,
          headers: Object.fromEntries(signed.headers),
          targets,
          ...(body === undefined ? {} : { body }),
        },
        late.signal,
        RESPONSE_TIMEOUT_MS,
      );
    } finally {
      clearTimeout(timer);
    }
  }

  async function attempt(call: S3Call): Promise<Response> {
    const response = await once(call);
    if (response.ok) return response;
    const { body } = await readAnswer(response, { max_bytes: MAX_XML_BYTES }, host);
    throw toS3Error(response.status, parseErrorCode(body.toString()), place, call.key ?? "");
  }

  async function send(call: S3Call): Promise<Response> {
    let tried = 0;
    const isRetryable = (failure: unknown) =>
      failure instanceof Unavailable && tried < MAX_ATTEMPTS && isRepeatable(call);
    return retryWithBackoff({ backoff: BACKOFF, isRetryable }, () => {
      tried++;
      return attempt(call).catch((cause) => {
        throw toBucketError(cause, place);
      });
    });
  }

  return {
    send,
    async text(call) {
      const { body } = await readAnswer(
        await send(call),
        { max_bytes: MAX_XML_BYTES, oversize: "refused" },
        host,
      ).catch((cause) => {
        throw toBucketError(cause, place);
      });
      const text = body.toString();
      if (/<Error[\s>]/.test(text)) throw toS3Error(500, parseErrorCode(text), place, call.key ?? "");
      return text;
    },
  };
}

/** Whether a call is idempotent, so that it can be retried. */
const isRepeatable = ({ method, query }: S3Call) => method === "PUT" || (method === "DELETE" && !!query);

/** Percent-encodes by RFC 3986; S3 signatures allow no other unescaped characters. */
function encodeRfc3986(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** Returns the URL of a bucket. @throws BadRequest for an invalid bucket or endpoint */
export function formatBucketUrl(resource: S3Resource): string {
  const { bucket, pathStyle } = resource;
  if (!/^[A-Za-z0-9][\w.-]{0,254}$/.test(bucket)) {
    throw new BadRequest(
      `"${bucket.slice(0, 100)}" cannot be a bucket: use letters, digits, \`.\`, \`_\` and \`-\``,
    );
  }
  const endpoint = URL.parse(getStorageEndpoint(resource));
  if (!endpoint || endpoint.username || endpoint.password || endpoint.search || endpoint.hash) {
    throw new BadRequest("`endPoint` of the bucket's resource must be a host, with or without a port");
  }
  const { protocol, host, pathname } = endpoint;
  const path = pathname.replace(/\/$/, "");
  if (pathStyle) return `${protocol}//${host}${path}/${bucket}`;
  const address = `${protocol}//${bucket}.${host}${path}`;
  if (URL.canParse(address)) return address;
  throw new BadRequest(`${bucket}.${host} is not a host: an address in \`endPoint\` needs \`pathStyle\``);
}

/** Returns the error code of a response. The message is not used, since it may quote the request. */
function parseErrorCode(text: string): string | undefined {
  return /<Code>(\w{1,60})<\/Code>/.exec(text)?.[1];
}

function toS3Error(status: number, code: string | undefined, place: string, key: string): SvcError {
  const told = code ? ` (${code})` : "";
  if (code === "NoSuchBucket") return new BadRequest(`${place} does not exist`);
  switch (status) {
    case 404:
      return new NotFound(`file ${key}`);
    case 401:
    case 403:
      return new BadRequest(`${place} rejected the keys of the resource${told}`);
    case 412:
      return new Unavailable(`file ${key} was replaced while it was being read: read it again`);
    default:
      return status < 500 && status !== 429
        ? new BadRequest(`${place} answered with status ${status}${told}`)
        : new Unavailable(`${place} answered with status ${status}${told}`);
  }
}

function toBucketError(cause: unknown, place: string): unknown {
  if (cause instanceof TargetRefused) {
    return new BadRequest(`${place}: ${cause.message}`, {
      hint: "the operator allows it with SVC_ALLOWED_TARGETS",
    });
  }
  if (cause instanceof OutgoingError)
    return new Unavailable(`${place} cannot be used now: ${cause.message}`, { cause });
  return cause;
}
