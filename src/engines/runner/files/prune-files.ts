/** Removing what is not used any more of the files that versions and their dependencies have on disk. */
import { renameSync } from "node:fs";
import { readdir, readlink, rm, stat, utimes } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { randomText } from "../../../lib/text/ids.ts";
import { PACKAGE_LINKS } from "../packages/store.ts";

/** A folder's own time says when it was last used, give or take this: what is used all the time is not touched often. */
const PRECISION_MS = 3_600_000;

export interface FolderUse {
  /** When this process last used a folder, in milliseconds since 1970. Set before anything is awaited. */
  used: Map<string, number>;
  /** Whether a process runs what is in the folder of a version. */
  isLoaded(folder: string): boolean;
  /** Called when a folder is gone: whoever needs it from here on makes it anew. */
  onRemoved(folder: string): void;
}

/**
 * Removes the folders of versions, and of dependencies without a version, that nothing has used since `before`
 * (milliseconds since 1970).
 * @returns how many
 */
export async function pruneFiles(directory: string, before: number, use: FolderUse): Promise<number> {
  let removed = 0;
  const linked = new Set<string>();
  for (const workspace of await foldersIn(join(directory, "versions"))) {
    for (const folder of await foldersIn(workspace)) {
      const targets = await Promise.all(
        Object.values(PACKAGE_LINKS).map((link) => readlink(join(folder, link)).catch(() => undefined)),
      );
      if (await removeUnused(folder, before, use)) removed++;
      else for (const target of targets) if (target) linked.add(basename(dirname(target)));
    }
  }
  for (const folder of await foldersIn(join(directory, "dependencies"))) {
    if (!linked.has(basename(folder)) && (await removeUnused(folder, before, use))) removed++;
  }
  return removed;
}

async function foldersIn(directory: string): Promise<string[]> {
  const names = await readdir(directory).catch(() => []);
  return names.map((name) => join(directory, name));
}

async function removeUnused(folder: string, before: number, use: FolderUse): Promise<boolean> {
  const found = await stat(folder).catch(() => undefined);
  // Somebody's unfinished work, which has its name by now.
  if (!found) return false;
  // From here to the renaming nothing is awaited, so that nobody begins to use the folder in between.
  const isLoaded = use.isLoaded(folder);
  const last = isLoaded ? Date.now() : Math.max(found.mtimeMs, use.used.get(folder) ?? 0);
  if (isLoaded || last >= before) {
    if (last > found.mtimeMs + PRECISION_MS) await utimes(folder, last / 1000, last / 1000);
    return false;
  }
  const gone = `${folder}.${randomText(8)}`;
  renameSync(folder, gone);
  use.onRemoved(folder);
  await rm(gone, { recursive: true, force: true });
  return true;
}
