/** IP addresses, special ranges and networks. */
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** An address range in the form of `ipaddr.js`. */
export type AddressRange = [ipaddr.IPv4 | ipaddr.IPv6, bits: number];

/** The block of publicly routed IPv6 addresses (RFC 4291 §2.4). */
const GLOBAL_UNICAST = ipaddr.parseCIDR("2000::/3");

/** Parses an address; an IPv4-mapped IPv6 address (RFC 4291 §2.5.5.2) becomes IPv4. */
function parseAddress(address: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  return ipaddr.isValid(address) ? ipaddr.process(address) : undefined;
}

/** Whether an address is on the public internet (IANA special-purpose registries, RFC 6890). */
export function isPublicAddress(text: string): boolean {
  const address = parseAddress(text);
  if (address?.range() !== "unicast") return false;
  return address instanceof ipaddr.IPv4 || isInRange(address, GLOBAL_UNICAST);
}

/** Parses an address or range; undefined for other texts. An address becomes a range of one. */
export function parseRange(text: string): AddressRange | undefined {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  const address = isIP(text) > 0 ? parseAddress(text) : undefined;
  return address && [address, address instanceof ipaddr.IPv4 ? 32 : 128];
}

/** Whether an address is in one of the ranges. */
export function isInRanges(text: string, ranges: readonly AddressRange[]): boolean {
  const address = parseAddress(text);
  return address !== undefined && ranges.some((range) => isInRange(address, range));
}

function isInRange(address: ipaddr.IPv4 | ipaddr.IPv6, range: AddressRange): boolean {
  return address.kind() === range[0].kind() && address.match(range as [ipaddr.IPv4, number]);
}

/** Returns the network that identifies a caller: an IPv4 address, or the /64 of an IPv6 address (RFC 6177 §2). */
export function toNetwork(text: string): string {
  if (isIP(text) === 4) return text;
  const address = parseAddress(text);
  if (!(address instanceof ipaddr.IPv6)) return address?.toString() ?? text;
  return address.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(":");
}

/** Returns the host of a URL: a name or an address, without IPv6 brackets. */
export function getUrlHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}

/** Whether a host name denotes this machine. */
export function isLoopbackName(host: string): boolean {
  return host === "localhost" || parseAddress(host)?.range() === "loopback";
}

/** What to do if the operating system does not let this user listen on a port. */
export const PRIVILEGED_PORT_HINT =
  "choose a port from 1024 up, or give the executable CAP_NET_BIND_SERVICE (setcap, or AmbientCapabilities in a unit)";
