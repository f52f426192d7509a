/** The files a version needs on disk: its source, and the packages of its lock. Written once, never changed. */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  readlinkSync,
  renameSync,
  symlinkSync,
} from "node:fs";
import { mkdir, mkdtemp, readlink, rename, rm, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { BadRequest } from "../../../lib/errors.ts";
import { randomText } from "../../../lib/text/ids.ts";
import { PACKAGE_LINKS, type PackageStore } from "../packages/store.ts";
import type { RunnableVersion } from "../types.ts";
import { pruneFiles } from "./prune-files.ts";
import { fileNames, mainFile, sourceFiles } from "./source-tree.ts";

export interface VersionFiles {
  /** Puts the files of a version, which are there, into a child's folder. @returns the path of its source in it */
  place(version: RunnableVersion, folder: string): string;
  /** Writes what is missing; calls for the same version at once share the work. @throws DependencyError */
  ensure(version: RunnableVersion): Promise<void>;
  /** True when there is nothing left to write. */
  has(version: RunnableVersion): boolean;
  /**
   * Removes what has not been used since `before` (milliseconds since 1970), but no version that `isLoaded`.
   * @returns how many folders
   */
  prune(before: number, isLoaded: (workspace_id: string, version_id: string) => boolean): Promise<number>;
  /** Removes the sources of a workspace's versions; what is asked for again is written anew. */
  forget(workspace_id: string): Promise<void>;
}

/** @param packages installs what locks say, below `directory`/dependencies */
export function versionFiles(directory: string, packages: PackageStore): VersionFiles {
  const ready = new Set<string>();
  /** When a folder was last asked for. Marked first of all: what is marked is not removed meanwhile. */
  const used = new Map<string, number>();
  const writing = new Map<string, Promise<void>>();

  function folderOf(version: RunnableVersion): string {
    if (!/^[\w-]+$/.test(version.workspace_id) || !/^[0-9a-f]+$/.test(version.id)) {
      throw new BadRequest(
        `version ${version.id} of workspace ${version.workspace_id} has no name a folder could have`,
      );
    }
    return join(directory, "versions", version.workspace_id, version.id);
  }

  async function write(version: RunnableVersion, folder: string): Promise<void> {
    const installed = await packages.install(version, (made) => used.set(made, Date.now()));
    if (existsSync(folder)) {
      if (installed) await linkAnew(join(folder, installed.link), installed.target);
      return;
    }
    await mkdir(join(folder, ".."), { recursive: true, mode: 0o700 });
    const work = await mkdtemp(`${folder}.`);
    try {
      for (const [name, source] of await sourceFiles(version, installed?.link === PACKAGE_LINKS.npm)) {
        await mkdir(dirname(join(work, name)), { recursive: true, mode: 0o700 });
        await writeFile(join(work, name), source, { mode: 0o600 });
      }
      if (installed) await symlink(installed.target, join(work, installed.link));
      await rename(work, folder);
    } catch (cause) {
      await rm(work, { recursive: true, force: true });
      if (!existsSync(folder)) throw cause;
    }
  }

  return {
    place(version, folder) {
      const written = folderOf(version);
      for (const name of fileNames(version)) {
        const placed = join(folder, name);
        if (version.imports?.length) makeFolders(folder, dirname(name));
        linkOrCopy(join(written, name), placed);
        // For whichever user the child is: nobody else gets through the folders above. A script can have taken it away.
        chmodSync(placed, 0o644);
      }
      const link = packages.linkOf(version);
      if (link) symlinkSync(readlinkSync(join(written, link)), join(folder, link));
      return join(folder, mainFile(version));
    },
    has(version) {
      const folder = folderOf(version);
      used.set(folder, Date.now());
      return ready.has(folder);
    },
    async forget(workspace_id) {
      const folder = join(directory, "versions", workspace_id);
      for (const known of [...ready]) {
        if (dirname(known) !== folder) continue;
        ready.delete(known);
        used.delete(known);
      }
      // Out of the way first, so that what is written anew meanwhile is not removed with it.
      const gone = `${folder}.${randomText(8)}`;
      if (!existsSync(folder)) return;
      renameSync(folder, gone);
      await rm(gone, { recursive: true, force: true });
    },
    prune(before, isLoaded) {
      return pruneFiles(directory, before, {
        used,
        isLoaded: (folder) => isLoaded(basename(dirname(folder)), basename(folder)),
        onRemoved(folder) {
          ready.delete(folder);
          used.delete(folder);
        },
      });
    },
    ensure(version) {
      const folder = folderOf(version);
      used.set(folder, Date.now());
      if (ready.has(folder)) return Promise.resolve();
      let running = writing.get(folder);
      if (!running) {
        running = write(version, folder)
          .then(() => {
            ready.add(folder);
          })
          .finally(() => writing.delete(folder));
        writing.set(folder, running);
      }
      return running;
    },
  };
}

/** Leads a link to where the packages are now: another version of the interpreter has its own. */
async function linkAnew(link: string, target: string): Promise<void> {
  if ((await readlink(link).catch(() => undefined)) === target) return;
  const next = `${link}.${randomText(8)}`;
  await symlink(target, next);
  await rename(next, link);
}

/** Makes a folder below another, for whichever user the child is. @param name without links, `.` for none */
function makeFolders(top: string, name: string): void {
  let at = top;
  for (const part of name.split("/")) {
    at = join(at, part);
    if (part === "." || existsSync(at)) continue;
    mkdirSync(at);
    chmodSync(at, 0o755);
  }
}

/** Another name for the same file, where the file system has that. */
function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}
