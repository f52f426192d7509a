/** What a folder takes on its disk. */
import { statfsSync } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

const BLOCK = 512;

/** Free bytes on the disk that a path is on, for who is not the superuser. */
export function freeBytes(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}

/**
 * Bytes that a folder takes with everything in it; links are not followed, holes in files do not count.
 * @param enough where counting ends: the folder takes at least that · @param most files after which it ends too
 */
export async function folderBytes(folder: string, enough: number, most: number): Promise<number> {
  const folders = [folder];
  let bytes = 0;
  let files = 0;
  for (let path = folders.pop(); path !== undefined; path = folders.pop()) {
    for (const entry of await readdir(path, { withFileTypes: true }).catch(() => [])) {
      const name = join(path, entry.name);
      const stats = await lstat(name).catch(() => undefined);
      bytes += (stats?.blocks ?? 0) * BLOCK;
      if (++files > most || bytes > enough) return bytes;
      if (entry.isDirectory()) folders.push(name);
    }
  }
  return bytes;
}
