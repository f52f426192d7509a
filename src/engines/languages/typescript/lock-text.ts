/**
 * The text of a lock: the package.json, a line `//bun.lock`, and the lock file, which is the form existing clients
 * exchange. A lock may come from a client, so it is checked before anything is installed from it: packages come from
 * the registry, with their integrity, and from nowhere else.
 */
import { BadRequest } from "../../../lib/errors.ts";

export interface Lock {
  package_json: string;
  bun_lock: string;
}

const SEPARATOR = "\n//bun.lock\n";

/** Fields of a package.json that do not change what is installed. */
const HARMLESS = new Set(["name", "version", "type", "private", "description", "license"]);

/**
 * Reads and checks a lock.
 * @returns undefined for "", which locks nothing
 * @throws BadRequest when the text is no lock, or asks for anything but packages of the registry
 */
export function parseLock(text: string): Lock | undefined {
  if (text.trim() === "") return undefined;
  const at = text.indexOf(SEPARATOR);
  if (at < 0) {
    throw new BadRequest(
      "the lock is not one of ours: it must be a package.json, a line //bun.lock, and the lock file",
    );
  }
  const dependencies = checkManifest(parsePart("package.json", JSON.parse, text.slice(0, at)));
  const file = parsePart("bun.lock", Bun.JSONC.parse, text.slice(at + SEPARATOR.length));
  const packages = checkPackages((file.packages ?? {}) as Record<string, Entry>);
  // Written anew from what was checked: the installer must not read the same text in another way.
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

/**
 * The text to store for what was just resolved. Where a package comes from is left out: the lock of a registry behind a
 * password would carry the password, and every registry finds its packages by name and version.
 */
export function formatLock({ package_json, bun_lock }: Lock): string {
  let text = bun_lock;
  for (const [, source] of Object.values(readPackages(bun_lock))) {
    if (typeof source === "string" && source !== "") text = text.replaceAll(JSON.stringify(source), '""');
  }
  return package_json + SEPARATOR + text;
}

/** True for what the registry resolves: a version, a range or a tag; false for files, URLs and repositories. */
export function isRegistryVersion(version: string): boolean {
  return /^[\w.^~<>=*|+\s-]+$/.test(version);
}

type Entry = [resolved: unknown, source: unknown, info?: unknown, integrity?: unknown];

function readPackages(bun_lock: string): Record<string, Entry> {
  const { packages } = parsePart("bun.lock", Bun.JSONC.parse, bun_lock);
  return (packages ?? {}) as Record<string, Entry>;
}

function parsePart(name: string, parse: (text: string) => unknown, text: string): Record<string, unknown> {
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

function checkManifest(manifest: Record<string, unknown>): Record<string, string> {
  const dependencies: Record<string, string> = {};
  for (const [field, value] of Object.entries(manifest)) {
    if (HARMLESS.has(field)) continue;
    if (field !== "dependencies" || typeof value !== "object" || value === null) {
      throw new BadRequest(`the lock's package.json may name dependencies, not "${field}"`);
    }
    for (const [name, version] of Object.entries(value)) {
      if (typeof version !== "string" || !isRegistryVersion(version)) {
        throw new BadRequest(`the lock's package.json asks for ${name} from elsewhere than the registry`);
      }
      dependencies[name] = version;
    }
  }
  return dependencies;
}

function checkPackages(packages: Record<string, Entry>): Record<string, Entry> {
  for (const [name, entry] of Object.entries(packages)) {
    const [resolved, source, , integrity] = Array.isArray(entry) ? entry : ([] as unknown as Entry);
    const version = typeof resolved === "string" ? /^@?[^@]+@(.+)$/.exec(resolved)?.[1] : undefined;
    if (version === undefined || !isRegistryVersion(version) || source !== "") {
      throw new BadRequest(`the lock asks for ${name} from elsewhere than the registry`);
    }
    if (typeof integrity !== "string" || !/^sha\d+-/.test(integrity)) {
      throw new BadRequest(`the lock names no integrity for ${name}`);
    }
  }
  return packages;
}
