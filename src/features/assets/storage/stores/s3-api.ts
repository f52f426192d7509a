/**
 * Single calls of Amazon S3's interface, signed with AWS Signature Version 4. They go out like all requests of the
 * server: to an address that was checked before it is connected to.
 */
import { AwsV4Signer } from "aws4fetch";
import { BadRequest, NotFound, type SvcError, Unavailable } from "../../../../lib/errors.ts";
import { hostOf } from "../../../../lib/network.ts";
import { OutgoingError, openRequest, RefusedTarget } from "../../../../platform/outgoing/connect.ts";
import { readAnswer } from "../../../../platform/outgoing/request.ts";
import type { Targets } from "../../../../platform/outgoing/targets.ts";
import { endpointOf, type S3Resource } from "../../../tenancy/workspaces/storage-records.ts";

/** Until an answer begins; the body of a request is at most one part of a file. */
const ANSWER_MS = 120_000;
/** Of an answer that is no file. The longest is a list of 1,000 keys. */
const MAX_XML = 16_000_000;
/** A call that failed for a moment is sent this often. */
const MAX_ATTEMPTS = 4;
const FIRST_PAUSE_MS = 100;

export interface S3Call {
  method: "GET" | "HEAD" | "POST" | "PUT" | "DELETE";
  /** Absent: the bucket itself. */
  key?: string;
  query?: Record<string, string>;
  headers?: Record<string, string>;
  body?: string | Uint8Array;
}

export interface S3Api {
  /** @throws SvcError unless the bucket answers with success */
  send(call: S3Call): Promise<Response>;
  /** The same, when the answer is a document; S3 tells some failures in one of status 200. */
  text(call: S3Call): Promise<string>;
}

/** @throws BadRequest when the resource names no place that can be called */
export function s3Api(resource: S3Resource, targets: Targets): S3Api {
  const { bucket, region, accessKey, secretKey } = resource;
  const base = addressOf(resource);
  const host = hostOf(new URL(base));
  const place = `bucket ${bucket} at ${endpointOf(resource)}`;
  const cache = new Map<string, ArrayBuffer>();

  async function once({ method, key, query, headers, body }: S3Call): Promise<Response> {
    const path = key === undefined ? "" : `/${key.split("/").map(encoded).join("/")}`;
    const search = Object.entries(query ?? {}).map(([name, value]) => `${name}=${encoded(value)}`);
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
    const timer = setTimeout(() => late.abort(), ANSWER_MS);
    try {
      return await openRequest(
        {
          url,
          method,
          headers: Object.fromEntries(signed.headers),
          targets,
          raw: true,
          ...(body === undefined ? {} : { body }),
        },
        late.signal,
        ANSWER_MS,
      );
    } finally {
      clearTimeout(timer);
    }
  }

  async function attempt(call: S3Call): Promise<Response> {
    const response = await once(call);
    if (response.ok) return response;
    const { body } = await readAnswer(response, { max_bytes: MAX_XML }, host);
    throw refused(response.status, codeIn(body.toString()), place, call.key ?? "");
  }

  async function send(call: S3Call): Promise<Response> {
    for (let tried = 1; ; tried++) {
      try {
        return await attempt(call);
      } catch (cause) {
        const failure = explained(cause, place);
        if (!(failure instanceof Unavailable) || tried === MAX_ATTEMPTS || !isRepeatable(call)) throw failure;
        await Bun.sleep(FIRST_PAUSE_MS * 2 ** (tried - 1) * (0.5 + Math.random() / 2));
      }
    }
  }

  return {
    send,
    async text(call) {
      const { body } = await readAnswer(
        await send(call),
        { max_bytes: MAX_XML, longer: "refused" },
        host,
      ).catch((cause) => {
        throw explained(cause, place);
      });
      const text = body.toString();
      if (/<Error[\s>]/.test(text)) throw refused(500, codeIn(text), place, call.key ?? "");
      return text;
    },
  };
}

/** Whether a call may be sent again without doing more. What writes a file writes the same once more. */
const isRepeatable = ({ method, query }: S3Call) => method === "PUT" || (method === "DELETE" && !!query);

/** RFC 3986: S3's signature has no other character as it is. */
function encoded(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (each) => `%${each.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** The URL of a bucket. @throws BadRequest when the resource names no place that can be called */
export function addressOf(resource: S3Resource): string {
  const { bucket, pathStyle } = resource;
  if (!/^[A-Za-z0-9][\w.-]{0,254}$/.test(bucket)) {
    throw new BadRequest(
      `"${bucket.slice(0, 100)}" cannot be a bucket: use letters, digits, \`.\`, \`_\` and \`-\``,
    );
  }
  const endpoint = URL.parse(endpointOf(resource));
  if (!endpoint || endpoint.username || endpoint.password || endpoint.search || endpoint.hash) {
    throw new BadRequest("`endPoint` of the bucket's resource must be a host, with or without a port");
  }
  const { protocol, host, pathname } = endpoint;
  const path = pathname.replace(/\/$/, "");
  if (pathStyle) return `${protocol}//${host}${path}/${bucket}`;
  const address = `${protocol}//${bucket}.${host}${path}`;
  if (URL.canParse(address)) return address;
  throw new BadRequest(`${bucket}.${host} is no host: an address in \`endPoint\` needs \`pathStyle\``);
}

/** The error code in the answer of a bucket; its message may quote what was sent. */
function codeIn(text: string): string | undefined {
  return /<Code>(\w{1,60})<\/Code>/.exec(text)?.[1];
}

function refused(status: number, code: string | undefined, place: string, key: string): SvcError {
  const told = code ? ` (${code})` : "";
  if (code === "NoSuchBucket") return new BadRequest(`${place} does not exist`);
  switch (status) {
    case 404:
      return new NotFound(`file ${key}`);
    case 401:
    case 403:
      return new BadRequest(`${place} refuses the keys of the resource${told}`);
    case 412:
      return new Unavailable(`file ${key} was replaced at this moment: read it again`);
    default:
      return status < 500 && status !== 429
        ? new BadRequest(`${place} answers with status ${status}${told}`)
        : new Unavailable(`${place} answers with status ${status}${told}`);
  }
}

function explained(cause: unknown, place: string): unknown {
  if (cause instanceof RefusedTarget) {
    return new BadRequest(`${place}: ${cause.message}`, {
      hint: "the operator allows it with SVC_ALLOWED_TARGETS",
    });
  }
  if (cause instanceof OutgoingError)
    return new Unavailable(`${place} cannot be used now: ${cause.message}`, { cause });
  return cause;
}
