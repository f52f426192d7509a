/** Disk usage of folders. */
import { type Stats, statfsSync } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { joinPathBytes } from "./path-bytes.ts";

/** Unit of `st_blocks`, independent of the disk's block size (stat(2)). */
export const BLOCK_BYTES = 512;

export interface FreeSpace {
  bytes: number;
  /** Free inodes; 0 if the file system does not report them. */
  files: number;
}

export interface FolderUsage {
  bytes: number;
  files: number;
  /** A subfolder could not be read: its permissions were removed, or its path is too long. */
  is_hidden: boolean;
}

/** Returns the space free for non-root users on a path's disk; undefined if unavailable. */
export function readFreeSpace(path: string): FreeSpace | undefined {
  try {
    const { bavail, bsize, ffree } = statfsSync(path);
    return { bytes: bavail * bsize, files: ffree };
  } catch {
    return undefined;
  }
}

/**
 * Measures a folder recursively, without following links; holes in files do not count.
 * @param limit limits after which measuring stops
 */
export async function measureFolder(
  folder: string,
  limit: { bytes: number; files: number },
): Promise<FolderUsage> {
  const folders: Buffer[] = [Buffer.from(folder)];
  const taken: FolderUsage = { bytes: 0, files: 0, is_hidden: false };
  const hide = (cause: NodeJS.ErrnoException) => {
    // A folder removed meanwhile is not hidden.
    if (cause.code !== "ENOENT" && cause.code !== "ENOTDIR") taken.is_hidden = true;
  };
  for (let path = folders.pop(); path; path = folders.pop()) {
    const names = await readdir(path, { encoding: "buffer" }).catch((cause) => {
      hide(cause);
      return [];
    });
    for (const name of names) {
      const inner = joinPathBytes(path, name);
      const stats: Stats | undefined = await lstat(inner).catch((cause) => void hide(cause));
      taken.bytes += (stats?.blocks ?? 0) * BLOCK_BYTES;
      taken.files++;
      if (taken.files > limit.files || taken.bytes > limit.bytes) return taken;
      if (stats?.isDirectory()) folders.push(inner);
    }
  }
  return taken;
}
