/**
 * Where the server itself may send requests to. What people of a workspace name as a target could otherwise be the
 * server's own network: another service on this machine, a cloud's metadata address, a neighbour behind the firewall
 * (server-side request forgery, CWE-918).
 */
import { isIP } from "node:net";
import { perApp } from "../../lib/async/per-app.ts";
import { BadRequest } from "../../lib/errors.ts";
import { type AddressRange, isInRanges, isPublicAddress, parseRange } from "../../lib/network.ts";
import type { App } from "../app/context.ts";

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
  const ranges: AddressRange[] = [];
  const hosts: string[] = [];
  for (const entry of entries) {
    const range = rangeOf(entry);
    if (range) ranges.push(range);
    else hosts.push(checkedHost(entry));
  }
  return {
    allows: (host, address) =>
      isPublicAddress(address) || isInRanges(address, ranges) || hosts.some((name) => isNamed(host, name)),
  };
}

function rangeOf(entry: string): AddressRange | undefined {
  const range = parseRange(entry);
  if (range || isIP(entry.split("/")[0]!) === 0) return range;
  throw new BadRequest(`"${entry}" is no range of addresses: write it as 10.0.0.0/8 or fd00::/8`);
}

function checkedHost(entry: string): string {
  if (/^(\*\.)?[a-z0-9_]([a-z0-9_.-]*[a-z0-9])?$/.test(entry)) return entry;
  throw new BadRequest(`"${entry}" is neither a host name, nor an address, nor a range of addresses`);
}

function isNamed(host: string, name: string): boolean {
  const lower = host.toLowerCase();
  return name.startsWith("*.") ? lower.endsWith(name.slice(1)) : lower === name;
}
