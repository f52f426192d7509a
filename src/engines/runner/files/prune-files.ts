/** Removes unused files of versions and of their dependencies. */
import { renameSync } from "node:fs";
import { readdir, readlink, rm, stat, utimes } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { createRandomText } from "../../../lib/text/ids.ts";
import { PACKAGE_LINKS } from "../packages/package-store.ts";

/**
 * Precision of a folder's time of last use, which is stored as its modification time; limits how often it is updated.
 */
const USE_PRECISION_MS = 3_600_000;

export interface FolderUse {
  /** Last use by this process, in Unix milliseconds; set before any await. */
  used: Map<string, number>;
  /** Whether a process runs the version in this folder. */
  isLoaded(folder: string): boolean;
  /** Called when a folder has been removed, so that the next user recreates it. */
  onRemoved(folder: string): void;
}

/**
 * Removes the folders of versions, and of dependencies that no version links to, unused since `before` (Unix
 * milliseconds).
 * @returns the number of removed folders
 */
export async function pruneFiles(directory: string, before: number, use: FolderUse): Promise<number> {
  let removed = 0;
  const linked = new Set<string>();
  for (const workspace of await listFolders(join(directory, "versions"))) {
    for (const folder of await listFolders(workspace)) {
      const targets = await Promise.all(
        Object.values(PACKAGE_LINKS).map((link) => readlink(join(folder, link)).catch(() => undefined)),
      );
      if (await removeUnused(folder, before, use)) removed++;
      else for (const target of targets) if (target) linked.add(basename(dirname(target)));
    }
  }
  for (const folder of await listFolders(join(directory, "dependencies"))) {
    if (!linked.has(basename(folder)) && (await removeUnused(folder, before, use))) removed++;
  }
  return removed;
}

/** Folders used within this time are kept: a job may be about to link their files. */
const IN_USE_MS = 60_000;

/**
 * Removes version folders, the least recently used first, until their total size is at most `max_bytes`.
 * @returns the number of removed folders
 */
export async function limitFolderSize(directory: string, max_bytes: number, use: FolderUse): Promise<number> {
  const found: { folder: string; bytes: number; last: number }[] = [];
  for (const workspace of await listFolders(join(directory, "versions"))) {
    for (const folder of await listFolders(workspace)) {
      const last = Math.max(
        (await stat(folder).catch(() => undefined))?.mtimeMs ?? 0,
        use.used.get(folder) ?? 0,
      );
      found.push({ folder, bytes: await sizeOf(folder), last });
    }
  }
  found.sort((a, b) => a.last - b.last);
  let total = found.reduce((sum, { bytes }) => sum + bytes, 0);
  let removed = 0;
  for (const { folder, bytes } of found) {
    if (total <= max_bytes) break;
    if (!(await removeUnused(folder, Date.now() - IN_USE_MS, use))) continue;
    total -= bytes;
    removed++;
  }
  return removed;
}

/** Returns the size of a folder's own files in bytes, without packages, which are links. */
async function sizeOf(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += await sizeOf(path);
    else if (entry.isFile()) bytes += (await stat(path).catch(() => undefined))?.size ?? 0;
  }
  return bytes;
}

async function listFolders(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch(() => []);
  return names.map((name) => join(directory, name));
}

async function removeUnused(folder: string, before: number, use: FolderUse): Promise<boolean> {
  const found = await stat(folder).catch(() => undefined);
  // A temporary folder that was renamed in the meantime.
  if (!found) return false;
  // No await from here to the rename, so that nobody starts to use the folder in between.
  const isLoaded = use.isLoaded(folder);
  const last = isLoaded ? Date.now() : Math.max(found.mtimeMs, use.used.get(folder) ?? 0);
  if (isLoaded || last >= before) {
    if (last > found.mtimeMs + USE_PRECISION_MS) await utimes(folder, last / 1000, last / 1000);
    return false;
  }
  const gone = `${folder}.${createRandomText(8)}`;
  renameSync(folder, gone);
  use.onRemoved(folder);
  await rm(gone, { recursive: true, force: true });
  return true;
}
