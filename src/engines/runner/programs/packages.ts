import { programOf } from "../../languages/programs/table.ts";
import { DependencyError } from "../../languages/typescript/lock.ts";
import type { RunnableVersion } from "../types.ts";

/** @throws DependencyError for a script that requires packages, which are not installed for these languages */
export function requireStandardLibrary({ language, content }: RunnableVersion): void {
  const packages = programOf(language)!.findPackages(content);
  if (packages.length === 0) return;
  throw new DependencyError(
    `the script requires ${packages.join(", ")}: ${language} scripts have the standard library only`,
  );
}
