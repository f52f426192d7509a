/** The keys of a folder in order, without looking at more of it than is asked for. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";

interface Wanted {
  prefix: string;
  /** Only keys after this one. */
  marker: string | undefined;
  /** The folder at the top that holds no keys, with a slash at the end. */
  own: string;
}

/** @param base the key of the folder, with a slash at the end; empty at the top */
export async function* keysBelow(root: string, wanted: Wanted, base = ""): AsyncGenerator<string> {
  const { prefix, marker, own } = wanted;
  const entries = await readdir(join(root, base), { withFileTypes: true }).catch(() => []);
  // With its slash a folder stands where the keys below it do.
  const names = entries
    .filter((entry) => entry.isFile() || entry.isDirectory())
    .map((entry) => `${base}${entry.name}${entry.isDirectory() ? "/" : ""}`)
    .sort();
  for (const name of names) {
    if (!name.endsWith("/")) {
      if (name.startsWith(prefix) && (marker === undefined || name > marker)) yield name;
      continue;
    }
    const within = name.startsWith(prefix) || prefix.startsWith(name);
    const passed = marker !== undefined && marker > name && !marker.startsWith(name);
    if (within && !passed && name !== own) yield* keysBelow(root, wanted, name);
  }
}
