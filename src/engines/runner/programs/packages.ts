import { describeMissingPackages } from "../../languages/programs/packages.ts";
import { DependencyError } from "../../languages/typescript/lock.ts";
import type { RunnableVersion } from "../types.ts";

/**
 * Rejects scripts with packages in languages that can use their standard library only.
 * @throws DependencyError if the script requires packages, which cannot be installed for these languages
 */
export function requireStandardLibrary({ language, content }: RunnableVersion): void {
  const missing = describeMissingPackages(language, content);
  if (missing) throw new DependencyError(missing);
}
