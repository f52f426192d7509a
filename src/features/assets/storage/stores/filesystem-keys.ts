/** Lists the keys in a folder in order, reading only the needed subfolders. */
import { readdir } from "node:fs/promises";
import { join } from "node:path";

interface KeyFilter {
  prefix: string;
  /** Return only keys after this one. */
  marker: string | undefined;
  /** The store's own top-level folder, which is skipped; ends with a slash. */
  own: string;
}

/** Yields keys in order. @param base key prefix of the folder, ending with a slash; empty for the root */
export async function* listKeysBelow(root: string, wanted: KeyFilter, base = ""): AsyncGenerator<string> {
  const { prefix, marker, own } = wanted;
  const entries = await readdir(join(root, base), { withFileTypes: true }).catch(() => []);
  // With a trailing slash, a folder sorts where its keys do.
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
    if (within && !passed && name !== own) yield* listKeysBelow(root, wanted, name);
  }
}
