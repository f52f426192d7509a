/**
 * Connections that the server itself makes to hosts people name. The address that was checked is the one that is
 * connected to, so that a name which resolves to another address a moment later gains nothing.
 */
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import { hostOf, isLoopbackName } from "../../lib/network.ts";
import type { Targets } from "./targets.ts";

/** Why a request came to nothing; the message names the host, never the path or query, which may hold secrets. */
export class OutgoingError extends Error {
  override readonly name: string = "OutgoingError";
}

/** The host is in a private network, and nobody has allowed it. */
export class RefusedTarget extends OutgoingError {
  override readonly name = "RefusedTarget";
}

/** Resolves the names of hosts to addresses; replaced by tests. */
export const resolver = {
  resolve: async (host: string): Promise<string[]> =>
    (await lookup(host, { all: true })).map(({ address }) => address),
};

export interface OpenRequest {
  url: string;
  method: "GET" | "HEAD" | "POST" | "PUT" | "DELETE";
  headers?: Record<string, string>;
  body?: string | Uint8Array;
  targets: Targets;
  /** Plain http is spoken with this machine alone. */
  confidential?: boolean;
  /** A compressed body is handed on as it arrives. */
  raw?: boolean;
}

/**
 * Sends one request and follows no redirect.
 * @param within what `signal` limits, for the message of a request that took too long
 * @returns the answer as soon as it begins
 * @throws OutgoingError when the target is refused, cannot be reached, or does not answer before the signal
 */
export async function openRequest(
  request: OpenRequest,
  signal: AbortSignal,
  within: number,
): Promise<Response> {
  const url = new URL(request.url);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new OutgoingError(`${url.protocol}// is no address that can be called`);
  }
  const host = hostOf(url);
  if (request.confidential && url.protocol === "http:" && !isLoopbackName(host)) {
    throw new OutgoingError(`${url.origin} must be called by https`);
  }
  return explaining(host, signal, within, () => connect(request, url, host, signal));
}

/** Runs what talks to a host, and tells its failures without what was sent. @throws OutgoingError */
export async function explaining<T>(
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
    throw new OutgoingError(`${host} cannot be reached: ${reasonOf(cause)}`);
  }
}

/** To the first of the host's addresses that takes the connection. */
async function connect(request: OpenRequest, url: URL, host: string, signal: AbortSignal): Promise<Response> {
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
    decompress: !request.raw,
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
  const found = isIP(host) > 0 ? [host] : await Promise.race([resolver.resolve(host), whenAborted(signal)]);
  const allowed = found.filter((address) => targets.allows(host, address));
  if (allowed.length === 0) throw refused(host);
  return allowed;
}

function whenAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

function refused(host: string): RefusedTarget {
  return new RefusedTarget(
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

/** Never the message itself: it may name the whole address. */
export function reasonOf(cause: unknown): string {
  const code = codeOf(cause);
  return REASONS[code] ?? (code === "" ? "the request failed" : `the request failed (${code})`);
}
