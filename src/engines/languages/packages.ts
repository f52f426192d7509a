import type { Dependency, Packages } from "./types.ts";
import { DependencyError } from "./typescript/lock.ts";
import { CLIENT_PACKAGE, readLockVersions } from "./typescript/lock-text.ts";

/** Merges the packages of two scripts that run together. @throws DependencyError for two versions of one package */
export function mergePackages(one: Packages | undefined, other: Packages | undefined): Packages | undefined {
  if (!one || !other) return one ?? other;
  if (one.client === "npm" && other.client === "npm") {
    const dependencies = mergeDependencies(one.dependencies, other.dependencies);
    return { ...other, ...one, dependencies };
  }
  if (one.client === "pip" && other.client === "pip") {
    const requirements = [...new Set([...one.requirements, ...other.requirements])].sort();
    return { client: "pip", requirements, python: one.python ?? other.python };
  }
  throw new DependencyError("a script imports one whose packages are of another language");
}

/**
 * Uses a lock's version for each package to which the code gives none, so that a lock that cannot be installed from
 * does not cause upgrades to the newest versions. The package of the client library is exempt: it follows the server.
 */
export function applyLockVersions(packages: Packages | undefined, lock: unknown): Packages | undefined {
  if (packages?.client !== "npm" || typeof lock !== "string") return packages;
  const versions = readLockVersions(lock);
  const dependencies = packages.dependencies.map(({ name, version }) => ({
    name,
    version: version === "latest" && name !== CLIENT_PACKAGE ? (versions[name] ?? version) : version,
  }));
  return { ...packages, dependencies };
}

/** Merges two lists of dependencies; one without a version takes the other list's version. */
function mergeDependencies(one: Dependency[], other: Dependency[]): Dependency[] {
  const versions = new Map<string, string>();
  for (const { name, version } of [...one, ...other]) {
    const known = versions.get(name) ?? "latest";
    if (known !== "latest" && version !== "latest" && known !== version) {
      throw new DependencyError(
        `scripts that run together need two versions of ${name}: ${known} and ${version}`,
      );
    }
    versions.set(name, known === "latest" ? version : known);
  }
  return [...versions].sort(([a], [b]) => (a < b ? -1 : 1)).map(([name, version]) => ({ name, version }));
}
