/**
 * Connections that the server makes to hosts named by users. It connects to the very address that was checked, so a DNS
 * name that changes in between (DNS rebinding) gains nothing.
 */
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { getUrlHost, isLoopbackName } from "../../lib/network.ts";
import type { Targets } from "./targets.ts";

/** A request failed; the message names the host, never the path or query, which may hold secrets. */
export class OutgoingError extends Error {
  override readonly name: string = "OutgoingError";
}

/** The host is in a private network and not allowed as a target. */
export class TargetRefused extends OutgoingError {
  override readonly name = "RefusedTarget";
}

/** DNS resolution; replaced in tests. */
export const dnsResolver = {
  resolve: async (host: string): Promise<string[]> =>
    (await lookup(host, { all: true })).map(({ address }) => address),
};

export interface OpenRequest {
  url: string;
  method: "GET" | "HEAD" | "POST" | "PUT" | "DELETE";
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  targets: Targets;
  /** Allows plain http only to this machine. */
  requires_https?: boolean;
}

/**
 * Sends one request without following redirects. The body of the response is left as it is encoded.
 * @param within duration of `signal`'s timeout in milliseconds, for the error message
 * @returns the response, once its headers have arrived
 * @throws OutgoingError if the target is refused, unreachable, or does not respond in time
 */
export async function openRequest(
  request: OpenRequest,
  signal: AbortSignal,
  within: number,
): Promise<Response> {
  const url = new URL(request.url);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new OutgoingError(`${url.protocol}// is not a supported protocol`);
  }
  const host = getUrlHost(url);
  if (request.requires_https && url.protocol === "http:" && !isLoopbackName(host)) {
    throw new OutgoingError(`${url.origin} must be called over HTTPS`);
  }
  return withHostErrors(host, signal, within, () => connect(request, url, host, signal));
}

/** Runs `talk` and converts its errors into messages without request data. @throws OutgoingError */
export async function withHostErrors<T>(
  host: string,
  signal: AbortSignal,
  within: number,
  talk: () => Promise<T>,
): Promise<T> {
  try {
    return await talk();
  } catch (cause) {
    if (cause instanceof OutgoingError) throw cause;
    if (signal.aborted) throw new OutgoingError(`${host} did not answer within ${within / 1000} s`);
    throw new OutgoingError(`${host} cannot be reached: ${describeNetworkError(cause)}`);
  }
}

/** Connects to the first of the host's addresses that accepts. */
async function connect(request: OpenRequest, url: URL, host: string, signal: AbortSignal): Promise<Response> {
  const allowed = await resolveAllowedAddresses(host, request.targets, signal);
  for (const [index, address] of allowed.entries()) {
    try {
      return await fetchFromAddress(address, request, url, host, signal);
    } catch (cause) {
      if (index === allowed.length - 1 || signal.aborted || !isUnreachable(cause)) throw cause;
    }
  }
  throw createTargetRefused(host);
}

/** Connects to the address; certificate check and `Host` header use the host name. */
function fetchFromAddress(
  address: string,
  request: OpenRequest,
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
    // A few kilobytes could become gigabytes at once. `request.ts` decompresses within its limit.
    decompress: false,
    signal,
    ...(url.protocol === "https:" && isIP(host) === 0 ? { tls: { serverName: host } } : {}),
  });
}

/**
 * Resolves a host to the addresses that may be connected to, at least one.
 * @throws OutgoingError if none is allowed; errors of the resolver
 */
export async function resolveAllowedAddresses(
  host: string,
  targets: Targets,
  signal: AbortSignal,
): Promise<string[]> {
  const found =
    isIP(host) > 0 ? [host] : await Promise.race([dnsResolver.resolve(host), whenAborted(signal)]);
  const allowed = found.filter((address) => targets.allows(host, address));
  if (allowed.length === 0) throw createTargetRefused(host);
  return allowed;
}

function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

function createTargetRefused(host: string): TargetRefused {
  return new TargetRefused(
    `${host} is an address of this machine or of a private network, which the operator has not allowed as a target`,
  );
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

/** Describes an error by its code. The message itself is not used: it may contain the full URL. */
export function describeNetworkError(cause: unknown): string {
  const code = codeOf(cause);
  return REASONS[code] ?? (code === "" ? "the request failed" : `the request failed (${code})`);
}
