/** `npm ci` refuses a lock file that lacks packages, even those of other platforms. */
import { expect, test } from "bun:test";
import manifest from "../../package.json" with { type: "json" };
import lock from "../../package-lock.json" with { type: "json" };

interface LockedPackage {
  version?: string;
  resolved?: string;
  integrity?: string;
  inBundle?: boolean;
  dependencies?: Record<string, string>;
  devDependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

const { "": root, ...packages } = lock.packages as Record<string, LockedPackage>;

/**
 * @returns whether a package is found from another one's folder as Node.js does: in its folder, then in those
 * above
 */
function isLocked(name: string, from: string): boolean {
  if (packages[`${from === "" ? "" : `${from}/`}node_modules/${name}`] !== undefined) return true;
  if (from === "") return false;
  return isLocked(name, from.slice(0, Math.max(0, from.lastIndexOf("/node_modules/"))));
}

test("the lock file contains every dependency, including those of other platforms", () => {
  const missing = Object.entries(packages).flatMap(([folder, { dependencies, optionalDependencies }]) =>
    Object.keys({ ...dependencies, ...optionalDependencies })
      .filter((name) => !isLocked(name, folder))
      .map((name) => `${folder} needs ${name}`),
  );
  expect(missing).toEqual([]);
});

test("the lock file matches package.json", () => {
  const { dependencies, devDependencies } = manifest;
  expect({ ...root?.dependencies, ...root?.devDependencies }).toEqual({
    ...dependencies,
    ...devDependencies,
  });
});

test("the lock file has integrity hashes for every package, and names no registry", () => {
  const unverified = Object.entries(packages).filter(
    ([, { integrity, resolved, inBundle }]) => resolved !== undefined || (!integrity && !inBundle),
  );
  expect(unverified.map(([folder]) => folder)).toEqual([]);
});
