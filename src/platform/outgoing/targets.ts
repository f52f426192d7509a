/**
 * Targets that the server may connect to. Targets named by workspace users could otherwise reach the server's own
 * network: local services, a cloud's metadata address, hosts behind the firewall (server-side request forgery,
 * CWE-918).
 */
import { isIP } from "node:net";
import { memoizePerApp } from "../../lib/async/per-app.ts";
import { BadRequest } from "../../lib/errors.ts";
import { type AddressRange, isInRanges, isPublicAddress, parseRange } from "../../lib/network.ts";
import type { App } from "../app/context.ts";

/** Rule that allows targets beyond the public internet. */
export interface Targets {
  /** Whether the server may connect to an address. @param host as in the URL @param address one that it resolved to */
  allows(host: string, address: string): boolean;
}

/** Returns this server's configured targets. @throws BadRequest for an invalid setting */
export const getConfiguredTargets: (app: App) => Targets = memoizePerApp((app: App) =>
  parseTargets(app.config.allowed_targets),
);

/**
 * Parses a list of allowed targets.
 * @param text `all`, or comma-separated host names (`hooks.internal`, `*.corp.example`) and addresses (`10.1.2.3`,
 * `10.0.0.0/8`, `::1`); empty: only the public internet
 * @throws BadRequest for an invalid entry
 */
export function parseTargets(text: string): Targets {
  const entries = text
    .split(",")
    .map((entry) => entry.trim().toLowerCase())
    .filter((entry) => entry !== "");
  if (entries.includes("all")) return { allows: () => true };
  const ranges: AddressRange[] = [];
  const hosts: string[] = [];
  for (const entry of entries) {
    const range = parseTargetRange(entry);
    if (range) ranges.push(range);
    else hosts.push(parseHostPattern(entry));
  }
  return {
    allows: (host, address) =>
      isPublicAddress(address) ||
      isInRanges(address, ranges) ||
      hosts.some((name) => matchesHostPattern(host, name)),
  };
}

function parseTargetRange(entry: string): AddressRange | undefined {
  const range = parseRange(entry);
  if (range || isIP(entry.split("/")[0]!) === 0) return range;
  throw new BadRequest(`"${entry}" is not a range of addresses: write it as 10.0.0.0/8 or fd00::/8`);
}

function parseHostPattern(entry: string): string {
  if (/^(\*\.)?[a-z0-9_]([a-z0-9_.-]*[a-z0-9])?$/.test(entry)) return entry;
  throw new BadRequest(`"${entry}" is neither a host name, nor an address, nor a range of addresses`);
}

function matchesHostPattern(host: string, name: string): boolean {
  const lower = host.toLowerCase();
  return name.startsWith("*.") ? lower.endsWith(name.slice(1)) : lower === name;
}
