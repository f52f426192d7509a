/** Detects packages that scripts in these languages require but that cannot be installed. */
import { findAdapter } from "./table.ts";

/**
 * Describes the packages that a script requires, as its imports or comments state them, and what to do instead.
 * @returns undefined if the script requires none, or packages of its language are installed
 */
export function describeMissingPackages(language: string, content: string): string | undefined {
  const program = findAdapter(language);
  const packages = program?.packages ? [] : (program?.findPackages(content) ?? []);
  if (packages.length === 0) return undefined;
  const lines = content.split("\n");
  const places = packages.map(
    (name) => `${name} (line ${lines.findIndex((line) => line.includes(name)) + 1})`,
  );
  return `the script requires ${places.join(", ")}, but ${language} scripts have the standard library only: write it without, in a language whose packages are installed (TypeScript, Python), or call a program that is built with them by a bash script`;
}
