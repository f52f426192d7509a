/**
 * Trusted reverse proxies: determine the caller's address, host and scheme. `X-Forwarded-*` headers can be forged, so
 * they count only on connections from configured proxies.
 */
import { BlockList, isIP } from "node:net";
import { BadRequest } from "../../../lib/errors.ts";

/** A request as the listener passes it; `ip` is the address of the connection's peer. */
type RequestWithIp = Request & { ip?: string };

export interface TrustedProxies {
  /** Replaces the request's `ip` by the caller's address, if a trusted proxy forwarded it. */
  applyForwardedFor(request: Request): void;
  /** Returns the caller's host and scheme as forwarded by a trusted proxy; undefined: as in the request itself. */
  readForwarded(request: Request): { host: string | undefined; https: boolean | undefined };
}

const NOT_FORWARDED = { host: undefined, https: undefined };

/** Trusts no proxy: requests are taken as they arrive. */
const NO_PROXIES: TrustedProxies = { applyForwardedFor: () => {}, readForwarded: () => NOT_FORWARDED };

/** Returns the caller's address without a port; "unknown" if the transport has none. */
export function getCallerAddress(request: Request): string {
  return (request as RequestWithIp).ip ?? "unknown";
}

/**
 * Parses the list of trusted proxies.
 * @param text addresses and CIDR ranges (RFC 4632), comma separated
 * @throws BadRequest naming the invalid entry
 */
export function parseTrustedProxies(text: string | undefined): TrustedProxies {
  const entries = (text ?? "").split(",").map((entry) => entry.trim());
  const list = new BlockList();
  for (const entry of entries) if (entry !== "") addEntry(list, entry);
  if (entries.every((entry) => entry === "")) return NO_PROXIES;

  const isTrusted = (address: string) => {
    const kind = isIP(address);
    if (kind === 0) return false;
    // The server listens on both loopback addresses, and a proxy that connects to localhost may use either.
    if (address === "::1" && list.check("127.0.0.1", "ipv4")) return true;
    return list.check(address, kind === 6 ? "ipv6" : "ipv4");
  };
  // Recorded on arrival, because the caller's address then replaces the request's `ip`.
  const believed = new WeakSet<Request>();
  return {
    applyForwardedFor(request) {
      const peer = (request as RequestWithIp).ip;
      if (peer === undefined || !isTrusted(peer)) return;
      believed.add(request);
      const chain = (request.headers.get("x-forwarded-for") ?? "").split(",").map(withoutPort);
      // Read from the right: addresses left of the first untrusted one may be forged by the caller.
      let address = peer;
      for (const hop of chain.reverse()) {
        if (isIP(hop) === 0) break;
        address = hop;
        if (!isTrusted(hop)) break;
      }
      Object.defineProperty(request, "ip", { value: address, enumerable: true, configurable: true });
    },
    readForwarded(request) {
      if (!believed.has(request)) return NOT_FORWARDED;
      const proto = lastHeaderValue(request.headers.get("x-forwarded-proto"))?.toLowerCase();
      return {
        host: lastHeaderValue(request.headers.get("x-forwarded-host")),
        https: proto === undefined ? undefined : proto === "https",
      };
    },
  };
}

function addEntry(list: BlockList, entry: string): void {
  const [address = "", bits, ...rest] = entry.split("/");
  const kind = isIP(address);
  const limit = kind === 6 ? 128 : 32;
  const prefix = bits === undefined ? limit : Number(bits);
  if (kind === 0 || rest.length > 0 || !/^\d*$/.test(bits ?? "") || bits === "" || prefix > limit) {
    throw new BadRequest(
      `SVC_TRUSTED_PROXIES: "${entry}" is neither an address nor a range such as 10.0.0.0/8 or fd00::/8`,
    );
  }
  list.addSubnet(address, prefix, kind === 6 ? "ipv6" : "ipv4");
}

/** Returns the last value of a list header: the nearest proxy appends at the end. */
function lastHeaderValue(header: string | null): string | undefined {
  return header?.split(",").at(-1)?.trim() || undefined;
}

/** Removes the port: some proxies write `192.0.2.1:4711` and `[2001:db8::1]:4711`. */
function withoutPort(hop: string): string {
  const text = hop.trim();
  if (text.startsWith("[")) return text.slice(1, text.indexOf("]"));
  return /^[\d.]+:\d+$/.test(text) ? text.slice(0, text.indexOf(":")) : text;
}
