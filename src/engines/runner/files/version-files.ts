/** Files of a version on disk: its sources, and links to its packages. Written once, never changed. */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  readlinkSync,
  renameSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { readlink, rename, rm, symlink, writeFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import { type SharedWork, shareWork } from "../../../lib/async/shared-work.ts";
import { BadRequest } from "../../../lib/errors.ts";
import { createRandomText } from "../../../lib/text/ids.ts";
import { findAdapter, findCompilation } from "../../languages/programs/table.ts";
import { PACKAGE_LINKS, type PackageStore } from "../packages/package-store.ts";
import type { RunnableVersion } from "../types.ts";
import { type FolderUse, limitFolderSize, pruneFiles } from "./prune-files.ts";
import { buildSourceFiles, getMainFileName, listSourceFileNames } from "./source-tree.ts";

/** Size limit of all versions' files. Compiled programs have megabytes each, and every preview is a version. */
const MAX_BYTES = 2_000_000_000;
const CHECK_AFTER_BYTES = 200_000_000;
/** Length of a file that is written at once: handing it to another thread takes several times as long. */
const MAX_SYNC_LENGTH = 100_000;

export interface VersionFiles {
  /** Links the version's existing files into a child's folder. @returns the path of its source there */
  place(version: RunnableVersion, folder: string): string;
  /**
   * Writes missing files; concurrent calls for a version share the work.
   * @param signal once the signals of all calls are aborted, a running compiler is killed
   * @throws DependencyError
   */
  ensure(version: RunnableVersion, signal?: AbortSignal): Promise<void>;
  /** Whether the version's files are complete. */
  has(version: RunnableVersion): boolean;
  /** Whether its files are missing and it takes a compiler or a package client to make them. */
  needsBuild(version: RunnableVersion): boolean;
  /**
   * Removes folders unused since `before` (Unix milliseconds), and then the least recently used ones while the rest
   * is too large. Versions that `isLoaded` are kept.
   * @returns the number of removed folders
   */
  prune(before: number, isLoaded: (workspace_id: string, version_id: string) => boolean): Promise<number>;
  /** Removes the sources of a workspace's versions; they are recreated on demand. */
  removeWorkspace(workspace_id: string): Promise<void>;
}

/**
 * Creates the manager of version files.
 * @param packages installs the packages of locks, below `directory`/dependencies
 * @param compile returns the compiled program of a version, which is stored instead of its sources
 */
export function createVersionFiles(
  directory: string,
  packages: PackageStore,
  compile: (version: RunnableVersion, signal: AbortSignal) => Promise<Buffer>,
): VersionFiles {
  const ready = new Set<string>();
  /** Time of last use by folder. It is set before the folder is used, so that a folder in use is not removed. */
  const used = new Map<string, number>();
  const writing = new Map<string, SharedWork>();
  /** Bytes written since the total size was last checked. */
  let unchecked = 0;

  function folderOf(version: RunnableVersion): string {
    if (!/^[\w-]+$/.test(version.workspace_id) || !/^[0-9a-f]+$/.test(version.id)) {
      throw new BadRequest(
        `version ${version.id} of workspace ${version.workspace_id} has a name that no folder can have`,
      );
    }
    return join(directory, "versions", version.workspace_id, version.id);
  }

  async function write(version: RunnableVersion, folder: string, signal: AbortSignal): Promise<void> {
    const installed = await packages.install(version, (made) => used.set(made, Date.now()));
    if (existsSync(folder)) {
      if (installed) await replaceLink(join(folder, installed.link), installed.target);
      return;
    }
    const sources: Map<string, string | Buffer> = findCompilation(version.language)
      ? new Map([[getMainFileName(version), await compile(version, signal)]])
      : await buildSourceFiles(version, installed?.link === PACKAGE_LINKS.npm);
    mkdirSync(join(folder, ".."), { recursive: true, mode: 0o700 });
    const work = mkdtempSync(`${folder}.`);
    try {
      for (const [name, source] of sources) {
        const file = join(work, name);
        mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
        if (source.length > MAX_SYNC_LENGTH) await writeFile(file, source, { mode: 0o600 });
        else writeFileSync(file, source, { mode: 0o600 });
        unchecked += source.length;
      }
      if (installed) symlinkSync(installed.target, join(work, installed.link));
      renameSync(work, folder);
    } catch (cause) {
      await rm(work, { recursive: true, force: true });
      if (!existsSync(folder)) throw cause;
    }
  }

  function createFolderUse(isLoaded: (workspace_id: string, version_id: string) => boolean): FolderUse {
    return {
      used,
      isLoaded: (folder) => isLoaded(basename(dirname(folder)), basename(folder)),
      onRemoved(folder) {
        ready.delete(folder);
        used.delete(folder);
      },
    };
  }

  /** Enforces the size limit between prunings if much was written, since there may be many previews. */
  function checkSize(): void {
    if (unchecked < CHECK_AFTER_BYTES) return;
    unchecked = 0;
    // Running processes are not affected: their files are hard-linked into their own folders.
    limitFolderSize(
      directory,
      MAX_BYTES,
      createFolderUse(() => false),
    ).catch(() => {
      unchecked = CHECK_AFTER_BYTES;
    });
  }

  function has(version: RunnableVersion): boolean {
    const folder = folderOf(version);
    used.set(folder, Date.now());
    return ready.has(folder);
  }

  return {
    place(version, folder) {
      const written = folderOf(version);
      for (const name of listSourceFileNames(version)) {
        const placed = join(folder, name);
        if (version.imports?.length) createFolders(folder, dirname(name));
        linkOrCopy(join(written, name), placed);
        // The child may have another user id. The folders above keep everyone else out, and a script may have changed
        // the mode.
        chmodSync(placed, findCompilation(version.language) ? 0o755 : 0o644);
      }
      const link = packages.linkOf(version);
      if (link) symlinkSync(readlinkSync(join(written, link)), join(folder, link));
      return join(folder, getMainFileName(version));
    },
    has,
    needsBuild(version) {
      const { language, lock } = version;
      const isCompiled = findCompilation(language) !== undefined;
      // Most versions need neither, nor a look at their files here.
      if ((!isCompiled && !lock && !findAdapter(language)?.packages) || has(version)) return false;
      return isCompiled || packages.linkOf(version) !== undefined;
    },
    async removeWorkspace(workspace_id) {
      const folder = join(directory, "versions", workspace_id);
      for (const known of [...ready]) {
        if (dirname(known) !== folder) continue;
        ready.delete(known);
        used.delete(known);
      }
      // Renamed first, so that files recreated meanwhile are not removed with it.
      const gone = `${folder}.${createRandomText(8)}`;
      if (!existsSync(folder)) return;
      renameSync(folder, gone);
      await rm(gone, { recursive: true, force: true });
    },
    async prune(before, isLoaded) {
      const use = createFolderUse(isLoaded);
      return (await pruneFiles(directory, before, use)) + (await limitFolderSize(directory, MAX_BYTES, use));
    },
    ensure(version, signal) {
      const folder = folderOf(version);
      used.set(folder, Date.now());
      if (ready.has(folder)) return Promise.resolve();
      let running = writing.get(folder);
      if (!running || running.isStopped()) {
        const started = shareWork(async (stopping) => {
          try {
            await write(version, folder, stopping);
            ready.add(folder);
            checkSize();
          } finally {
            if (writing.get(folder) === started) writing.delete(folder);
          }
        });
        running = started;
        writing.set(folder, running);
      }
      return running.join(signal);
    },
  };
}

/** Updates a link to the packages: each interpreter version has its own. */
async function replaceLink(link: string, target: string): Promise<void> {
  if ((await readlink(link).catch(() => undefined)) === target) return;
  const next = `${link}.${createRandomText(8)}`;
  await symlink(target, next);
  await rename(next, link);
}

/** Creates a folder below another, accessible to any user id of a child. @param name without links, `.` for none */
function createFolders(top: string, name: string): void {
  let at = top;
  for (const part of name.split("/")) {
    at = join(at, part);
    if (part === "." || existsSync(at)) continue;
    mkdirSync(at);
    chmodSync(at, 0o755);
  }
}

/** Hard-links a file, or copies it where that is not possible. */
function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}
