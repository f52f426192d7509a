/**
 * Text of an npm lock: the package.json, a line `//bun.lock`, and the lock file, as existing clients exchange it. A
 * client's lock is validated before use: packages must come from the registry, with their integrity.
 */
import { BadRequest } from "../../../lib/errors.ts";

export interface Lock {
  package_json: string;
  bun_lock: string;
}

/** The client's own package. It follows the server, and its old versions are withdrawn from the registry. */
export const CLIENT_PACKAGE = "windmill-client";

const SEPARATOR = "\n//bun.lock\n";

/** package.json fields without influence on the installation. */
const IGNORED_FIELDS = new Set(["name", "version", "type", "private", "description", "license"]);

/**
 * Parses and validates a lock.
 * @returns undefined for "", which locks nothing
 * @throws BadRequest if the text is not a lock, or has packages from outside the registry
 */
export function parseLock(text: string): Lock | undefined {
  if (text.trim() === "") return undefined;
  const at = text.indexOf(SEPARATOR);
  if (at < 0) {
    throw new BadRequest(
      "the lock has an unknown format: it must be a package.json, a line //bun.lock, and the lock file",
    );
  }
  const dependencies = parseDependencies(parseLockPart("package.json", JSON.parse, text.slice(0, at)));
  const file = parseLockPart("bun.lock", Bun.JSONC.parse, text.slice(at + SEPARATOR.length));
  const packages = requireRegistryPackages((file.packages ?? {}) as Record<string, PackageEntry>);
  // Rebuilt from the validated values, so that the installer cannot interpret the text differently.
  const { lockfileVersion, configVersion } = file;
  return {
    package_json: JSON.stringify({ dependencies }),
    bun_lock: JSON.stringify({
      lockfileVersion,
      configVersion,
      workspaces: { "": { dependencies } },
      packages,
    }),
  };
}

/** Returns a lock with the newest version of the client's own package; all others stay as they are. */
export function renewClient({ package_json, bun_lock }: Lock): Lock {
  const file = JSON.parse(bun_lock);
  const { [CLIENT_PACKAGE]: _, ...packages } = file.packages;
  const { [CLIENT_PACKAGE]: __, ...dependencies } = JSON.parse(package_json).dependencies;
  return {
    package_json: JSON.stringify({ dependencies: { ...dependencies, [CLIENT_PACKAGE]: "latest" } }),
    // The installer adds what the lock does not have.
    bun_lock: JSON.stringify({ ...file, workspaces: { "": { dependencies } }, packages }),
  };
}

/**
 * Formats a newly resolved lock. Package URLs are removed: they may contain a registry's password, and every registry
 * finds packages by name and version.
 */
export function formatLock({ package_json, bun_lock }: Lock): string {
  let text = bun_lock;
  for (const [, source] of Object.values(readPackages(bun_lock))) {
    if (typeof source === "string" && source !== "") text = text.replaceAll(JSON.stringify(source), '""');
  }
  return package_json + SEPARATOR + text;
}

/**
 * Reads the versions that a lock of any form asks for in the package.json it starts with, such as one with a binary
 * lock file (`//bun.lockb`). Versions from outside the registry are left out; a text of another form has none.
 */
export function readLockVersions(text: string): Record<string, string> {
  const [manifest = ""] = text.split(/\n\/\/bun\.lockb?\b/, 1);
  try {
    const { dependencies } = parseLockPart("package.json", JSON.parse, manifest);
    const entries = Object.entries((dependencies ?? {}) as Record<string, unknown>);
    return Object.fromEntries(
      entries.filter((entry): entry is [string, string] => isRegistryVersion(String(entry[1]))),
    );
  } catch (cause) {
    if (cause instanceof BadRequest) return {};
    throw cause;
  }
}

/** Whether a version is resolved by the registry: a version, range or tag, as opposed to a file, URL or repository. */
export function isRegistryVersion(version: string): boolean {
  return /^[\w.^~<>=*|+\s-]+$/.test(version);
}

type PackageEntry = [resolved: unknown, source: unknown, info?: unknown, integrity?: unknown];

function readPackages(bun_lock: string): Record<string, PackageEntry> {
  const { packages } = parseLockPart("bun.lock", Bun.JSONC.parse, bun_lock);
  return (packages ?? {}) as Record<string, PackageEntry>;
}

function parseLockPart(
  name: string,
  parse: (text: string) => unknown,
  text: string,
): Record<string, unknown> {
  let value: unknown;
  try {
    value = parse(text);
  } catch (cause) {
    throw new BadRequest(`the lock's ${name} is not JSON: ${(cause as Error).message}`);
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new BadRequest(`the lock's ${name} is not an object`);
  }
  return value as Record<string, unknown>;
}

function parseDependencies(manifest: Record<string, unknown>): Record<string, string> {
  const dependencies: Record<string, string> = {};
  for (const [field, value] of Object.entries(manifest)) {
    if (IGNORED_FIELDS.has(field)) continue;
    if (field !== "dependencies" || typeof value !== "object" || value === null) {
      throw new BadRequest(`the lock's package.json may name dependencies, not "${field}"`);
    }
    for (const [name, version] of Object.entries(value)) {
      if (typeof version !== "string" || !isRegistryVersion(version)) {
        throw new BadRequest(`the lock's package.json takes ${name} from a source other than the registry`);
      }
      dependencies[name] = version;
    }
  }
  return dependencies;
}

function requireRegistryPackages(packages: Record<string, PackageEntry>): Record<string, PackageEntry> {
  for (const [name, entry] of Object.entries(packages)) {
    const [resolved, source, , integrity] = Array.isArray(entry) ? entry : ([] as unknown as PackageEntry);
    const version = typeof resolved === "string" ? /^@?[^@]+@(.+)$/.exec(resolved)?.[1] : undefined;
    if (version === undefined || !isRegistryVersion(version) || source !== "") {
      throw new BadRequest(`the lock takes ${name} from a source other than the registry`);
    }
    if (typeof integrity !== "string" || !/^sha\d+-/.test(integrity)) {
      throw new BadRequest(`the lock has no integrity hash for ${name}`);
    }
  }
  return packages;
}
