/** Signatures of webhook senders: verify an HMAC over the request, in addition to the token. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { Internal, Unauthorized } from "../../../lib/errors.ts";
import type { App } from "../../../platform/app/context.ts";
import { readBytes } from "../../../platform/http/input.ts";
import { transferBodySlot } from "../../../platform/http/large-bodies.ts";
import { readVariableForServer } from "../../assets/variables/server-value.ts";
import type { SignatureSettings } from "../../code/scripts/signature-rule.ts";

/** Digest length of each HMAC hash, in bytes. */
export const HASH_BYTES = { sha1: 20, sha256: 32, sha512: 64 } as const;

/** How a signature is sent. The secret comes from the caller of `verifySignatureWithKey`. */
export interface SignatureFormat extends Omit<SignatureSettings, "secret"> {
  /** `hmac_sha256`: a hash other than SHA-256. */
  hash?: keyof typeof HASH_BYTES | undefined;
  /** `hmac_sha256`: the prefix of the digest, if it is not `sha256=`. */
  prefix?: string | undefined;
}

const DEFAULT_TOLERANCE_S = 300;

/** The signature in a request. */
interface SentSignature {
  /** Header with the signature. */
  header: string;
  /** HMAC digests. The request is genuine if one of them matches. */
  digests: Uint8Array[];
  /** Text signed before the body. */
  before?: string;
  /** Signed time as sent, in seconds since 1970. */
  timestamp?: string;
}

interface Scheme {
  /** Reads the signature from the headers of a request. @throws Unauthorized when a header is missing */
  read: (headers: Headers, rule: SignatureFormat) => SentSignature;
  /** Decodes the key in the shared secret, if the key is not the text itself; undefined if it is invalid. */
  key?: (secret: string) => Uint8Array | undefined;
}

const SCHEMES: Record<SignatureSettings["scheme"], Scheme> = {
  github: {
    read: (headers) => {
      const header = "X-Hub-Signature-256";
      return { header, digests: [fromHex(stripPrefix("sha256=", requireHeader(headers, header)))] };
    },
  },
  stripe: {
    read: (headers) => {
      const header = "Stripe-Signature";
      const fields = requireHeader(headers, header)
        .split(",")
        .map((field) => field.trim());
      const timestamp = fields.find((field) => field.startsWith("t="))?.slice(2) ?? "";
      const digests = fields
        .filter((field) => field.startsWith("v1="))
        .map((field) => fromHex(field.slice(3)));
      return { header, digests, timestamp, before: `${timestamp}.` };
    },
  },
  slack: {
    read: (headers) => {
      const header = "X-Slack-Signature";
      const digests = [fromHex(stripPrefix("v0=", requireHeader(headers, header)))];
      const timestamp = requireHeader(headers, "X-Slack-Request-Timestamp");
      return { header, digests, timestamp, before: `v0:${timestamp}:` };
    },
  },
  /** https://github.com/standard-webhooks/standard-webhooks, symmetric signatures */
  standard_webhooks: {
    read: (headers) => {
      const header = "webhook-signature";
      const digests = requireHeader(headers, header)
        .split(" ")
        .map((signature) => fromBase64(stripPrefix("v1,", signature)) ?? NO_DIGEST);
      const timestamp = requireHeader(headers, "webhook-timestamp");
      return { header, digests, timestamp, before: `${requireHeader(headers, "webhook-id")}.${timestamp}.` };
    },
    key: (secret) => fromBase64(secret.replace(/^whsec_/, "")),
  },
  hmac_sha256: {
    read: (headers, rule) => {
      const header = rule.header ?? "";
      const sent = requireHeader(headers, header);
      const text = rule.prefix ? stripPrefix(rule.prefix, sent) : sent.replace(/^sha256=/i, "");
      const isHex = text.length === 2 * HASH_BYTES[rule.hash ?? "sha256"] && /^[0-9a-f]+$/i.test(text);
      const digest = isHex ? fromHex(text) : (fromBase64(text) ?? NO_DIGEST);
      return { header, digests: [digest] };
    },
  },
};

/**
 * Verifies the signature over the exact bytes of the body, with the secret in a variable.
 * @returns the request with its body unread
 * @throws Unauthorized if the signature does not match the rule; Internal if the secret cannot be read; PayloadTooLarge
 */
export async function verifySignature(
  app: App,
  request: Request,
  { workspace_id, rule, limit }: { workspace_id: string; rule: SignatureSettings; limit: number },
): Promise<Request> {
  if (request.method !== "POST") {
    throw new Unauthorized(
      `this script takes signed requests only, and a ${request.method} has no body to sign: send a POST`,
    );
  }
  const key = () => readSigningKey(app, workspace_id, SCHEMES[rule.scheme], rule.secret);
  return verifySignatureWithKey(app, request, { rule, key, limit });
}

/**
 * Verifies a signature with a key from elsewhere than a variable.
 * @returns, @throws as `verifySignature`
 */
export async function verifySignatureWithKey(
  app: App,
  request: Request,
  how: { rule: SignatureFormat; key: () => Promise<string | Uint8Array>; limit: number },
): Promise<Request> {
  const { rule, limit } = how;
  const { header, digests, before = "", timestamp } = SCHEMES[rule.scheme].read(request.headers, rule);
  if (timestamp !== undefined)
    requireFreshTimestamp(timestamp, rule.tolerance_s ?? DEFAULT_TOLERANCE_S, app.clock());
  const key = await how.key();
  const body = await readBytes(request, limit);
  const right = createHmac(rule.hash ?? "sha256", key)
    .update(before)
    .update(body)
    .digest();
  if (!digests.some((digest) => digest.length === right.length && timingSafeEqual(digest, right))) {
    throw new Unauthorized(`the signature in ${header} does not match this request and the shared secret`);
  }
  const { url, method, headers } = request;
  return transferBodySlot(
    request,
    new Request(url, { method, headers, body: body as Uint8Array<ArrayBuffer> }),
  );
}

/** Reads the signing key. An empty secret is rejected, because anybody could sign with it. */
async function readSigningKey(
  app: App,
  workspace_id: string,
  scheme: Scheme,
  path: string,
): Promise<string | Uint8Array> {
  const at = `the variable ${path} in workspace ${workspace_id}, the secret of this script's signatures,`;
  let secret: string | undefined;
  try {
    secret = await readVariableForServer(app, workspace_id, path);
  } catch (cause) {
    throw new Internal(`${at} cannot be read`, { cause });
  }
  if (!secret) throw new Internal(`${at} is missing, expired or empty`);
  if (!scheme.key) return secret;
  const key = scheme.key(secret);
  if (!key || key.length === 0) throw new Internal(`${at} must be whsec_ followed by base64`);
  return key;
}

function requireFreshTimestamp(timestamp: string, tolerance_s: number, now: Date): void {
  if (!/^\d{1,12}$/.test(timestamp)) {
    throw new Unauthorized("the request's signed timestamp is missing, or not in seconds since 1970");
  }
  if (Math.abs(now.getTime() / 1000 - Number(timestamp)) > tolerance_s) {
    throw new Unauthorized(`the request's signed timestamp is more than ${tolerance_s} s off`);
  }
}

function requireHeader(headers: Headers, name: string): string {
  const value = headers.get(name);
  if (!value) throw new Unauthorized(`this script takes signed requests only: the header ${name} is missing`);
  return value;
}

/** An invalid digest: matches no body. */
const NO_DIGEST = new Uint8Array();

/** Removes the prefix; returns "" if the text does not start with it. */
function stripPrefix(prefix: string, text: string): string {
  return text.startsWith(prefix) ? text.slice(prefix.length) : "";
}

function fromHex(text: string): Uint8Array {
  return Buffer.from(text, "hex");
}

/** Decodes base64 or base64url (RFC 4648 §4, §5); undefined if the text is neither. */
function fromBase64(text: string): Uint8Array | undefined {
  return /^[A-Za-z0-9+/_-]*={0,2}$/.test(text) ? Buffer.from(text, "base64") : undefined;
}
