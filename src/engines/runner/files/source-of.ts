/** A macro: runs when the importing file is bundled (or transpiled), and leaves the text of a source file in its place. */
import { readFileSync } from "node:fs";

/** @param path below src/engines */
export function sourceOf(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
}
