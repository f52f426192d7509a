/** Signatures of senders: how a request to a webhook proves who sent it, beside the token. */
import { createHmac, timingSafeEqual } from "node:crypto";
import { Internal, Unauthorized } from "../../../lib/errors.ts";
import type { App } from "../../../platform/app/context.ts";
import { readBytes } from "../../../platform/http/input.ts";
import { sameBody } from "../../../platform/http/large-bodies.ts";
import { readValueForServer } from "../../assets/variables/server-value.ts";
import type { SignatureRule } from "../../code/scripts/signature-rule.ts";

/** Lengths in bytes of the digests that HMACs are made with. */
export const HASHES = { sha1: 20, sha256: 32, sha512: 64 } as const;

/** A rule whose secret is kept elsewhere than in a variable. */
export interface KeptRule extends Omit<SignatureRule, "secret"> {
  /** `hmac_sha256`: another hash than SHA-256. */
  hash?: keyof typeof HASHES | undefined;
  /** `hmac_sha256`: what stands before the digest, where that is not `sha256=`. */
  prefix?: string | undefined;
}

const TOLERANCE_S = 300;

/** What a request says of its own signature. */
interface Claim {
  /** The header that carries it. */
  header: string;
  /** HMAC-SHA256 digests: the request is genuine when one of them is right. */
  digests: Uint8Array[];
  /** What is signed before the body. */
  before?: string;
  /** As sent, in seconds since 1970. */
  timestamp?: string;
}

interface Scheme {
  /** @throws Unauthorized when a header is missing */
  read: (headers: Headers, rule: KeptRule) => Claim;
  /** The key in the shared secret, where that is not its text; undefined when it holds none. */
  key?: (secret: string) => Uint8Array | undefined;
}

const SCHEMES: Record<SignatureRule["scheme"], Scheme> = {
  github: {
    read: (headers) => {
      const header = "X-Hub-Signature-256";
      return { header, digests: [fromHex(after("sha256=", required(headers, header)))] };
    },
  },
  stripe: {
    read: (headers) => {
      const header = "Stripe-Signature";
      const fields = required(headers, header)
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
      const digests = [fromHex(after("v0=", required(headers, header)))];
      const timestamp = required(headers, "X-Slack-Request-Timestamp");
      return { header, digests, timestamp, before: `v0:${timestamp}:` };
    },
  },
  /** https://github.com/standard-webhooks/standard-webhooks, symmetric signatures */
  standard_webhooks: {
    read: (headers) => {
      const header = "webhook-signature";
      const digests = required(headers, header)
        .split(" ")
        .map((signature) => fromBase64(after("v1,", signature)) ?? NONE);
      const timestamp = required(headers, "webhook-timestamp");
      return { header, digests, timestamp, before: `${required(headers, "webhook-id")}.${timestamp}.` };
    },
    key: (secret) => fromBase64(secret.replace(/^whsec_/, "")),
  },
  hmac_sha256: {
    read: (headers, rule) => {
      const header = rule.header ?? "";
      const sent = required(headers, header);
      const text = rule.prefix ? after(rule.prefix, sent) : sent.replace(/^sha256=/i, "");
      const isHex = text.length === 2 * HASHES[rule.hash ?? "sha256"] && /^[0-9a-f]+$/i.test(text);
      const digest = isHex ? fromHex(text) : (fromBase64(text) ?? NONE);
      return { header, digests: [digest] };
    },
  },
};

/**
 * Checks the signature over the exact bytes of the body.
 * @returns the request, its body still to be read
 * @throws Unauthorized when it is not signed as the rule asks; Internal when the secret cannot be had; PayloadTooLarge
 */
export async function verifiedRequest(
  app: App,
  request: Request,
  { workspace_id, rule, limit }: { workspace_id: string; rule: SignatureRule; limit: number },
): Promise<Request> {
  if (request.method !== "POST") {
    throw new Unauthorized(
      `this script takes signed requests only, and a ${request.method} has no body to sign: send a POST`,
    );
  }
  const key = () => keyOf(app, workspace_id, SCHEMES[rule.scheme], rule.secret);
  return signedRequest(app, request, { rule, key, limit });
}

/**
 * Checks a signature whose secret is kept elsewhere than in a variable.
 * @returns, @throws as `verifiedRequest`
 */
export async function signedRequest(
  app: App,
  request: Request,
  how: { rule: KeptRule; key: () => Promise<string | Uint8Array>; limit: number },
): Promise<Request> {
  const { rule, limit } = how;
  const { header, digests, before = "", timestamp } = SCHEMES[rule.scheme].read(request.headers, rule);
  if (timestamp !== undefined) refuseStale(timestamp, rule.tolerance_s ?? TOLERANCE_S, app.clock());
  const key = await how.key();
  const body = await readBytes(request, limit);
  const right = createHmac(rule.hash ?? "sha256", key)
    .update(before)
    .update(body)
    .digest();
  if (!digests.some((digest) => digest.length === right.length && timingSafeEqual(digest, right))) {
    throw new Unauthorized(`the signature in ${header} is not one of this request with the shared secret`);
  }
  const { url, method, headers } = request;
  return sameBody(request, new Request(url, { method, headers, body: body as Uint8Array<ArrayBuffer> }));
}

/** An empty secret is none: anybody could sign with it. */
async function keyOf(
  app: App,
  workspace_id: string,
  scheme: Scheme,
  path: string,
): Promise<string | Uint8Array> {
  const at = `the variable ${path} in workspace ${workspace_id}, the secret of this script's signatures,`;
  let secret: string | undefined;
  try {
    secret = await readValueForServer(app, workspace_id, path);
  } catch (cause) {
    throw new Internal(`${at} cannot be read`, { cause });
  }
  if (!secret) throw new Internal(`${at} is missing, expired or empty`);
  if (!scheme.key) return secret;
  const key = scheme.key(secret);
  if (!key || key.length === 0) throw new Internal(`${at} must be whsec_ followed by base64`);
  return key;
}

function refuseStale(timestamp: string, tolerance_s: number, now: Date): void {
  if (!/^\d{1,12}$/.test(timestamp)) {
    throw new Unauthorized("the request's signed timestamp is missing, or not in seconds since 1970");
  }
  if (Math.abs(now.getTime() / 1000 - Number(timestamp)) > tolerance_s) {
    throw new Unauthorized(`the request's signed timestamp is more than ${tolerance_s} s off`);
  }
}

function required(headers: Headers, name: string): string {
  const value = headers.get(name);
  if (!value) throw new Unauthorized(`this script takes signed requests only: the header ${name} is missing`);
  return value;
}

/** A digest that no body has. */
const NONE = new Uint8Array();

/** "" when the text does not begin so. */
function after(prefix: string, text: string): string {
  return text.startsWith(prefix) ? text.slice(prefix.length) : "";
}

function fromHex(text: string): Uint8Array {
  return Buffer.from(text, "hex");
}

/** Undefined for what is no base64 (RFC 4648 §4, §5). */
function fromBase64(text: string): Uint8Array | undefined {
  return /^[A-Za-z0-9+/_-]*={0,2}$/.test(text) ? Buffer.from(text, "base64") : undefined;
}
