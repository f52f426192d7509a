/** Packages that scripts of these languages ask for, and cannot have. */
import { programOf } from "./table.ts";

/**
 * Says what a script requires from an index, where it says so, and what to do about it.
 * @returns undefined for a script that requires nothing, or in a language whose packages are installed
 */
export function describeMissingPackages(language: string, content: string): string | undefined {
  const program = programOf(language);
  const packages = program?.packages ? [] : (program?.findPackages(content) ?? []);
  if (packages.length === 0) return undefined;
  const lines = content.split("\n");
  const places = packages.map(
    (name) => `${name} (line ${lines.findIndex((line) => line.includes(name)) + 1})`,
  );
  return `the script requires ${places.join(", ")}, but ${language} scripts have the standard library only: write it without, in a language whose packages are installed (TypeScript, Python), or call a program that is built with them by a bash script`;
}
