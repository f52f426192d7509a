/**
 * Where a request came from: the caller's address, the host and the scheme it used. Behind a reverse proxy these stand
 * in `X-Forwarded-*`, which anybody can write: they are believed of the proxies that the operator trusts, no others.
 */
import { BlockList, isIP } from "node:net";
import { BadRequest } from "../../../lib/errors.ts";

/** A request as a listener hands it over; `ip` is the address of the other end of its connection. */
type Arrived = Request & { ip?: string };

export interface Proxies {
  /** Makes the request's `ip` that of the caller, where a trusted proxy tells it. */
  settle(request: Request): void;
  /** The host and the scheme that the caller used, as far as a trusted proxy tells; undefined: as they arrived. */
  forwarded(request: Request): { host: string | undefined; https: boolean | undefined };
}

const NOTHING = { host: undefined, https: undefined };

/** No proxy is trusted: a request is what it says itself. */
const NONE: Proxies = { settle: () => {}, forwarded: () => NOTHING };

/** The caller's address, without a port; "unknown" where the transport tells none. */
export function addressOf(request: Request): string {
  return (request as Arrived).ip ?? "unknown";
}

/**
 * @param text addresses and CIDR ranges (RFC 4632), comma separated
 * @throws BadRequest naming the entry that is neither
 */
export function trustProxies(text: string | undefined): Proxies {
  const entries = (text ?? "").split(",").map((entry) => entry.trim());
  const list = new BlockList();
  for (const entry of entries) if (entry !== "") add(list, entry);
  if (entries.every((entry) => entry === "")) return NONE;

  const isTrusted = (address: string) => {
    const kind = isIP(address);
    if (kind === 0) return false;
    // The server listens on both loopback addresses, and a proxy that asks localhost takes either.
    if (address === "::1" && list.check("127.0.0.1", "ipv4")) return true;
    return list.check(address, kind === 6 ? "ipv6" : "ipv4");
  };
  // Set when a request arrives, since its own `ip` is then replaced by the caller's.
  const believed = new WeakSet<Request>();
  return {
    settle(request) {
      const peer = (request as Arrived).ip;
      if (peer === undefined || !isTrusted(peer)) return;
      believed.add(request);
      const chain = (request.headers.get("x-forwarded-for") ?? "").split(",").map(withoutPort);
      // From the right: what stands left of the first address that is no trusted proxy, the caller wrote itself.
      let address = peer;
      for (const hop of chain.reverse()) {
        if (isIP(hop) === 0) break;
        address = hop;
        if (!isTrusted(hop)) break;
      }
      Object.defineProperty(request, "ip", { value: address, enumerable: true, configurable: true });
    },
    forwarded(request) {
      if (!believed.has(request)) return NOTHING;
      const proto = lastOf(request.headers.get("x-forwarded-proto"))?.toLowerCase();
      return {
        host: lastOf(request.headers.get("x-forwarded-host")),
        https: proto === undefined ? undefined : proto === "https",
      };
    },
  };
}

function add(list: BlockList, entry: string): void {
  const [address = "", bits, ...rest] = entry.split("/");
  const kind = isIP(address);
  const most = kind === 6 ? 128 : 32;
  const prefix = bits === undefined ? most : Number(bits);
  if (kind === 0 || rest.length > 0 || !/^\d*$/.test(bits ?? "") || bits === "" || prefix > most) {
    throw new BadRequest(
      `SVC_TRUSTED_PROXIES: "${entry}" is neither an address nor a range such as 10.0.0.0/8 or fd00::/8`,
    );
  }
  list.addSubnet(address, prefix, kind === 6 ? "ipv6" : "ipv4");
}

/** The nearest proxy writes at the end. */
function lastOf(header: string | null): string | undefined {
  return header?.split(",").at(-1)?.trim() || undefined;
}

/** `192.0.2.1:4711` and `[2001:db8::1]:4711`, as some proxies write addresses. */
function withoutPort(hop: string): string {
  const text = hop.trim();
  if (text.startsWith("[")) return text.slice(1, text.indexOf("]"));
  return /^[\d.]+:\d+$/.test(text) ? text.slice(0, text.indexOf(":")) : text;
}
