/**
 * Requests that the server itself makes to targets people name. Bounded in time, in size and in redirects; the address
 * that was checked is the one that is connected to, so that a name which resolves to another address a moment later
 * gains nothing.
 */
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import type { Targets } from "./targets.ts";

/** Why a request came to nothing; the message names the host, never the path or query, which may hold secrets. */
export class OutgoingError extends Error {
  override readonly name = "OutgoingError";
}

export interface OutgoingRequest {
  url: string;
  method: "GET" | "POST" | "PUT" | "DELETE";
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  targets: Targets;
  /** From the beginning to the last byte of the answer, redirects included. */
  timeout_ms: number;
  /** Of the answer's body, as it arrives decoded. */
  max_bytes: number;
  /** What becomes of a longer body; it is cut off where nothing is said. */
  longer?: "cut" | "refused";
  /** Plain http is spoken with this machine alone. */
  confidential?: boolean;
  /** Redirects that are followed; each is checked like the first address. */
  max_redirects: number;
}

export interface OutgoingAnswer {
  status: number;
  headers: Headers;
  body: Buffer;
}

/** @throws OutgoingError when the target is refused, cannot be reached, or does not answer in time */
export async function sendRequest(asked: OutgoingRequest): Promise<OutgoingAnswer> {
  const signal = AbortSignal.timeout(asked.timeout_ms);
  let request = asked;
  for (let redirects = 0; ; redirects++) {
    const answer = await once(request, signal);
    const location = answer.headers.get("location");
    if (!isFollowed(request, answer) || location === null || redirects >= asked.max_redirects) return answer;
    request = redirected(request, location);
  }
}

/** RFC 9110 §15.4: only 307 and 308 send again what was sent; the others would turn it into a GET, and lose it. */
function isFollowed({ method }: OutgoingRequest, { status }: OutgoingAnswer): boolean {
  if (status === 307 || status === 308) return true;
  return method === "GET" && (status === 301 || status === 302 || status === 303);
}

/** Credentials stay with the first origin. */
function redirected(request: OutgoingRequest, location: string): OutgoingRequest {
  const from = new URL(request.url);
  const to = URL.parse(location, from.href);
  if (!to) throw new OutgoingError(`${from.host} redirects to what is no address`);
  const isSame = to.origin === from.origin;
  const headers = Object.entries(request.headers ?? {}).filter(
    ([name]) => isSame || !["authorization", "cookie"].includes(name.toLowerCase()),
  );
  return { ...request, url: to.href, headers: Object.fromEntries(headers) };
}

const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|::1)$/;

async function once(request: OutgoingRequest, signal: AbortSignal): Promise<OutgoingAnswer> {
  const url = new URL(request.url);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new OutgoingError(`${url.protocol}// is no address that can be called`);
  }
  const host = url.hostname.replace(/^\[|\]$/g, "");
  if (request.confidential && url.protocol === "http:" && !LOOPBACK.test(host)) {
    throw new OutgoingError(`${url.origin} must be called by https`);
  }
  try {
    return await read(await connect(request, url, host, signal), request, host);
  } catch (cause) {
    if (cause instanceof OutgoingError) throw cause;
    if (signal.aborted)
      throw new OutgoingError(`${host} did not answer within ${request.timeout_ms / 1000} s`);
    throw new OutgoingError(`${host} cannot be reached: ${reasonOf(cause)}`);
  }
}

/** To the first of the host's addresses that takes the connection. */
async function connect(
  request: OutgoingRequest,
  url: URL,
  host: string,
  signal: AbortSignal,
): Promise<Response> {
  const allowed = await allowedAddresses(host, request.targets, signal);
  for (const [index, address] of allowed.entries()) {
    try {
      return await fetchFrom(address, request, url, host, signal);
    } catch (cause) {
      if (index === allowed.length - 1 || signal.aborted || !isUnreachable(cause)) throw cause;
    }
  }
  throw refused(host);
}

/** The connection goes to the address; the certificate and the `Host` header are those of the name. */
function fetchFrom(
  address: string,
  request: OutgoingRequest,
  url: URL,
  host: string,
  signal: AbortSignal,
): Promise<Response> {
  const to = new URL(url);
  to.hostname = address.includes(":") ? `[${address}]` : address;
  return fetch(to, {
    method: request.method,
    headers: { ...request.headers, host: url.host },
    body: request.body,
    redirect: "manual",
    signal,
    ...(url.protocol === "https:" && isIP(host) === 0 ? { tls: { serverName: host } } : {}),
  });
}

/**
 * The addresses of a host that may be connected to, one or more.
 * @throws OutgoingError when there are none; whatever its name could not be resolved for
 */
export async function allowedAddresses(
  host: string,
  targets: Targets,
  signal: AbortSignal,
): Promise<string[]> {
  const found = isIP(host) > 0 ? [host] : await addressesOf(host, signal);
  const allowed = found.filter((address) => targets.allows(host, address));
  if (allowed.length === 0) throw refused(host);
  return allowed;
}

async function addressesOf(host: string, signal: AbortSignal): Promise<string[]> {
  const found = await Promise.race([lookup(host, { all: true }), whenAborted(signal)]);
  return found.map(({ address }) => address);
}

function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

function refused(host: string): OutgoingError {
  return new OutgoingError(
    `${host} is an address of this machine or of a private network, which the operator has not allowed as a target`,
  );
}

async function read(
  { status, headers, body }: Response,
  { max_bytes, longer }: OutgoingRequest,
  host: string,
): Promise<OutgoingAnswer> {
  const pieces: Uint8Array[] = [];
  let left = max_bytes;
  for await (const piece of body ?? []) {
    pieces.push(piece.subarray(0, Math.max(left, 0)));
    left -= piece.length;
    // Leaving the loop ends the connection: nobody reads the rest.
    if (left < 0 && longer === "refused")
      throw new OutgoingError(`${host} sends more than ${max_bytes} bytes`);
    if (left < 0 || (left === 0 && longer !== "refused")) break;
  }
  return { status, headers, body: Buffer.concat(pieces) };
}

const REASONS: Record<string, string> = {
  ENOTFOUND: "there is no such host",
  DNS_ENOTFOUND: "there is no such host",
  EAI_AGAIN: "its name could not be resolved",
  ConnectionRefused: "the connection was refused",
  ECONNREFUSED: "the connection was refused",
  ECONNRESET: "the connection was closed",
  ConnectionClosed: "the connection was closed",
  ERR_TLS_CERT_ALTNAME_INVALID: "its certificate is another host's",
  DEPTH_ZERO_SELF_SIGNED_CERT: "its certificate is self-signed",
  CERT_HAS_EXPIRED: "its certificate has expired",
};

function isUnreachable(cause: unknown): boolean {
  const code = codeOf(cause);
  return code === "ConnectionRefused" || code === "ECONNREFUSED";
}

function codeOf(cause: unknown): string {
  return cause instanceof Error ? ((cause as NodeJS.ErrnoException).code ?? "") : "";
}

/** Never the message itself: it may name the whole address. */
export function reasonOf(cause: unknown): string {
  const code = codeOf(cause);
  return REASONS[code] ?? (code === "" ? "the request failed" : `the request failed (${code})`);
}
