/** Loads the console bundle: embedded in the executable, or built from the sources of a checkout. */
import { statSync } from "node:fs";
import { join } from "node:path";
import { bundleConsole, CONSOLE_SOURCES, type ConsoleBundle, unpackBundle } from "./bundle.ts";

/** File name of the packed bundle, and the name under which the compiler embeds it. */
export const PACKED = "console.bundle";
const EMBEDDED = /(^|\/)console(-\w+)?\.bundle$/;

let embedded: Promise<ConsoleBundle> | undefined;
let built: { newest: number; bundle: Promise<ConsoleBundle> } | undefined;

/** Returns the bundle. In a checkout it is rebuilt after a source file has changed. */
export function loadConsoleBundle(): Promise<ConsoleBundle> {
  const packed = (Bun.embeddedFiles as (Blob & { name: string })[]).find(({ name }) => EMBEDDED.test(name));
  if (packed) {
    embedded ??= unpackBundle(packed);
    return embedded;
  }
  const newest = newestSource();
  if (built?.newest !== newest) built = { newest, bundle: bundleConsole(false) };
  return built.bundle;
}

function newestSource(): number {
  let newest = 0;
  for (const file of new Bun.Glob("**/*.{ts,tsx,css,svg}").scanSync(CONSOLE_SOURCES)) {
    newest = Math.max(newest, statSync(join(CONSOLE_SOURCES, file)).mtimeMs);
  }
  return newest;
}
