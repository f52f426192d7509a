/** Modes of the data directory and of the server's private files. */
import { chmodSync, lstatSync } from "node:fs";
import { join } from "node:path";

const PRIVATE_FILES = [
  "instance.key",
  "svc.db",
  "svc.db-wal",
  "svc.db-shm",
  "svc.sock",
  "svc.lock",
  "svc.owner.json",
  "init.json",
  "serve.json",
  "svc.env",
];

/** A path with the widest and the narrowest mode that it may have. */
export type FileRights = [path: string, most: number, least: number];

/** A file or folder whose mode was restored, and the mode that was found (chmod(2)). */
export interface RestoredFile {
  path: string;
  mode: number;
}

const ALL_RIGHTS = 0o7777;
const OWNER_RIGHTS = 0o700;
/** A sticky folder is shared by all users of the machine and not ours (inode(7)). */
const STICKY = 0o1000;

export function listPrivateFiles(data_dir: string): FileRights[] {
  return PRIVATE_FILES.map((name) => [
    join(data_dir, name),
    0o600,
    // A read-only key is fine.
    name === "instance.key" ? 0o400 : 0o600,
  ]);
}

/**
 * Restores the modes of our own files: adds missing owner rights and removes others' rights.
 * @returns files on which the owner lacked rights or others had them
 */
export function restoreRights(files: Iterable<FileRights>): RestoredFile[] {
  const found: RestoredFile[] = [];
  const me = process.geteuid?.();
  if (me === undefined) return found;
  for (const [path, most, least] of files) {
    try {
      const stats = lstatSync(path, { throwIfNoEntry: false });
      if (!stats || stats.isSymbolicLink() || stats.uid !== me || stats.mode & STICKY) continue;
      const mode = stats.mode & ALL_RIGHTS;
      if ((mode & ~most) === 0 && (least & ~mode) === 0) continue;
      chmodSync(path, (mode & most) | least);
      if ((mode & ~most) !== 0 || (least & OWNER_RIGHTS & ~mode) !== 0) found.push({ path, mode });
    } catch {
      // A file system without modes, or a read-only one: the code that needs the file reports the problem.
    }
  }
  return found;
}

/** Restores the owner rights that the start needs; others' rights are checked later. */
export function restoreOwnerAccess(data_dir: string): void {
  restoreRights([[data_dir, ALL_RIGHTS, OWNER_RIGHTS]]);
  restoreRights(listPrivateFiles(data_dir).map(([path, , least]) => [path, ALL_RIGHTS, least]));
}
