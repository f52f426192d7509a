/**
 * Where the server itself may send requests to. What people of a workspace name as a target could otherwise be the
 * server's own network: another service on this machine, a cloud's metadata address, a neighbour behind the firewall
 * (server-side request forgery, CWE-918).
 */
import { BlockList, isIP } from "node:net";
import type { App } from "../context.ts";
import { BadRequest } from "../errors.ts";
import { perApp } from "../lib/per-app.ts";

/** Addresses that are no place on the public internet (IANA special-purpose registries, RFC 6890). */
const SPECIAL: readonly [address: string, prefix: number][] = [
  ["0.0.0.0", 8],
  ["10.0.0.0", 8],
  ["100.64.0.0", 10],
  ["127.0.0.0", 8],
  ["169.254.0.0", 16],
  ["172.16.0.0", 12],
  ["192.0.0.0", 24],
  ["192.0.2.0", 24],
  ["192.88.99.0", 24],
  ["192.168.0.0", 16],
  ["198.18.0.0", 15],
  ["198.51.100.0", 24],
  ["203.0.113.0", 24],
  ["224.0.0.0", 3],
  ["::", 127],
  ["64:ff9b::", 96],
  ["64:ff9b:1::", 48],
  ["100::", 64],
  ["2001::", 23],
  ["2001:db8::", 32],
  ["2002::", 16],
  ["fc00::", 7],
  ["fe80::", 10],
  ["ff00::", 8],
];

const special = new BlockList();
for (const [address, prefix] of SPECIAL) special.addSubnet(address, prefix, familyOf(address));

function familyOf(address: string): "ipv4" | "ipv6" {
  return address.includes(":") ? "ipv6" : "ipv4";
}

/** An IPv4 address inside an IPv6 one (RFC 4291 §2.5.5.2) is judged as what it is. */
function unmapped(address: string): string {
  return /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address;
}

/** Which targets are allowed beyond the public internet. */
export interface Targets {
  /** @param host as the URL names it, @param address what it resolved to */
  allows(host: string, address: string): boolean;
}

/** Those of this server, as its operator set them. @throws BadRequest for a setting that cannot be read */
export const allowedTargets: (app: App) => Targets = perApp((app: App) =>
  targetsOf(app.config.allowed_targets),
);

/**
 * @param text `all`, or a list with commas of host names (`hooks.internal`, `*.corp.example`) and addresses
 *   (`10.1.2.3`, `10.0.0.0/8`, `::1`); empty: nothing beyond the public internet
 * @throws BadRequest for an entry that is neither
 */
export function targetsOf(text: string): Targets {
  const entries = text
    .split(",")
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== "");
  if (entries.includes("all")) return { allows: () => true };
  const addresses = new BlockList();
  const hosts: string[] = [];
  for (const entry of entries) if (!addAddress(addresses, entry)) hosts.push(checkedHost(entry));
  return {
    allows(host, given) {
      const address = unmapped(given);
      const family = familyOf(address);
      // Every other IPv4 address in IPv6's clothes is refused: nobody needs one to reach the public internet.
      const isPublic = !special.check(address, family) && !/^::ffff:/i.test(address);
      return isPublic || addresses.check(address, family) || hosts.some((name) => isNamed(host, name));
    },
  };
}

function addAddress(list: BlockList, entry: string): boolean {
  const [address = "", prefix] = entry.split("/");
  if (isIP(address) === 0) return false;
  const family = familyOf(address);
  const most = family === "ipv4" ? 32 : 128;
  const bits = prefix === undefined ? most : Number(prefix);
  if (!/^\d+$/.test(prefix ?? "0") || bits > most) {
    throw new BadRequest(`"${entry}" is no range of addresses: write it as 10.0.0.0/8 or fd00::/8`);
  }
  list.addSubnet(address, bits, family);
  return true;
}

function checkedHost(entry: string): string {
  if (/^(\*\.)?[a-z0-9_]([a-z0-9_.-]*[a-z0-9])?$/.test(entry)) return entry;
  throw new BadRequest(`"${entry}" is neither a host name, nor an address, nor a range of addresses`);
}

function isNamed(host: string, name: string): boolean {
  const lower = host.toLowerCase();
  return name.startsWith("*.") ? lower.endsWith(name.slice(1)) : lower === name;
}
