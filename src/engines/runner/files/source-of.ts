/** Bun macro: runs when the importing file is bundled or transpiled, and is replaced by a source file's text. */
import { readFileSync } from "node:fs";

/** @param path relative to src/engines */
export function sourceOf(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
}
