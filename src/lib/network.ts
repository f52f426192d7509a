/** IP addresses: their special ranges and the networks they belong to. */
import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/** A range of addresses, in the form of `ipaddr.js`. */
export type AddressRange = [ipaddr.IPv4 | ipaddr.IPv6, bits: number];

/** The one block of IPv6 that is routed publicly (RFC 4291 §2.4). */
const GLOBAL_UNICAST = ipaddr.parseCIDR("2000::/3");

/** An IPv4 address inside an IPv6 one (RFC 4291 §2.5.5.2) is read as IPv4. */
function find(address: string): ipaddr.IPv4 | ipaddr.IPv6 | undefined {
  return ipaddr.isValid(address) ? ipaddr.process(address) : undefined;
}

/** Whether an address is on the public internet (IANA special-purpose registries, RFC 6890). */
export function isPublicAddress(text: string): boolean {
  const address = find(text);
  if (address?.range() !== "unicast") return false;
  return address instanceof ipaddr.IPv4 || isWithin(address, GLOBAL_UNICAST);
}

/** Parses an address or a range; undefined for what is neither. An address is the range of itself. */
export function parseRange(text: string): AddressRange | undefined {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  const address = isIP(text) > 0 ? find(text) : undefined;
  return address && [address, address instanceof ipaddr.IPv4 ? 32 : 128];
}

/** Whether an address is in one of the ranges. */
export function isInRanges(text: string, ranges: readonly AddressRange[]): boolean {
  const address = find(text);
  return address !== undefined && ranges.some((range) => isWithin(address, range));
}

function isWithin(address: ipaddr.IPv4 | ipaddr.IPv6, range: AddressRange): boolean {
  return address.kind() === range[0].kind() && address.match(range as [ipaddr.IPv4, number]);
}

/** The network that stands for one caller: an IPv4 address, or the /64 of an IPv6 one (RFC 6177 §2). */
export function networkOf(text: string): string {
  if (isIP(text) === 4) return text;
  const address = find(text);
  if (!(address instanceof ipaddr.IPv6)) return address?.toString() ?? text;
  return address.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(":");
}

/** The host of a URL: a name or an address, without the brackets of IPv6. */
export function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, "");
}

/** Whether a host says by itself that it is this machine. */
export function isLoopbackName(host: string): boolean {
  return host === "localhost" || find(host)?.range() === "loopback";
}
