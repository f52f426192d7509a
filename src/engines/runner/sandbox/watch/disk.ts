/** What a folder takes on its disk. */
import { type Stats, statfsSync } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { within } from "./path-bytes.ts";

/** Bytes that a block is, whatever the disk's own are (stat(2)). */
export const BLOCK = 512;

export interface Room {
  bytes: number;
  /** How many more files can be made; 0 where the disk does not say. */
  files: number;
}

export interface Taken {
  bytes: number;
  files: number;
  /** A folder could not be looked into: its maker has closed it, or it is deeper than a path can be long. */
  is_hidden: boolean;
}

/** What is free on the disk that a path is on, for who is not the superuser; undefined when it does not say. */
export function freeRoom(path: string): Room | undefined {
  try {
    const { bavail, bsize, ffree } = statfsSync(path);
    return { bytes: bavail * bsize, files: ffree };
  } catch {
    return undefined;
  }
}

/**
 * What a folder takes with everything in it; links are not followed, holes in files do not count.
 * @param most where counting ends: the folder takes more than that
 */
export async function folderTakes(folder: string, most: { bytes: number; files: number }): Promise<Taken> {
  const folders: Buffer[] = [Buffer.from(folder)];
  const taken: Taken = { bytes: 0, files: 0, is_hidden: false };
  const hide = (cause: NodeJS.ErrnoException) => {
    // What is gone in between is not hidden.
    if (cause.code !== "ENOENT" && cause.code !== "ENOTDIR") taken.is_hidden = true;
  };
  for (let path = folders.pop(); path; path = folders.pop()) {
    const names = await readdir(path, { encoding: "buffer" }).catch((cause) => {
      hide(cause);
      return [];
    });
    for (const name of names) {
      const inner = within(path, name);
      const stats: Stats | undefined = await lstat(inner).catch((cause) => void hide(cause));
      taken.bytes += (stats?.blocks ?? 0) * BLOCK;
      taken.files++;
      if (taken.files > most.files || taken.bytes > most.bytes) return taken;
      if (stats?.isDirectory()) folders.push(inner);
    }
  }
  return taken;
}
