/** The rights of the data directory and of the files in it that are for the server alone. */
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
  "svc.env",
];

/** A path, the most that its mode may be, and the least. */
export type OwnRights = [path: string, most: number, least: number];

/** A file or folder whose rights were restored, and the mode that was found (chmod(2)). */
export interface RestoredFile {
  path: string;
  mode: number;
}

const RIGHTS = 0o7777;
const OF_OWNER = 0o700;
/** A folder that all users of the machine have in common was not made for us (inode(7)). */
const STICKY = 0o1000;

export function privateFiles(data_dir: string): OwnRights[] {
  return PRIVATE_FILES.map((name) => [
    join(data_dir, name),
    0o600,
    // A key that its owner may not write is none the worse.
    name === "instance.key" ? 0o400 : 0o600,
  ]);
}

/**
 * Gives the owner back what has been taken, and takes what others have been given, of files that are ours.
 * @returns those of which the owner lacked something, or others had something
 */
export function restoreRights(files: Iterable<OwnRights>): RestoredFile[] {
  const found: RestoredFile[] = [];
  const me = process.geteuid?.();
  if (me === undefined) return found;
  for (const [path, most, least] of files) {
    try {
      const stats = lstatSync(path, { throwIfNoEntry: false });
      if (!stats || stats.isSymbolicLink() || stats.uid !== me || stats.mode & STICKY) continue;
      const mode = stats.mode & RIGHTS;
      if ((mode & ~most) === 0 && (least & ~mode) === 0) continue;
      chmodSync(path, (mode & most) | least);
      if ((mode & ~most) !== 0 || (least & OF_OWNER & ~mode) !== 0) found.push({ path, mode });
    } catch {
      // A file system without such rights, or one that is read only: what needs the file says what is wrong.
    }
  }
  return found;
}

/** Gives the owner back what the start needs; others keep what they have been given, which is looked at later. */
export function letOwnerIn(data_dir: string): void {
  restoreRights([[data_dir, RIGHTS, OF_OWNER]]);
  restoreRights(privateFiles(data_dir).map(([path, , least]) => [path, RIGHTS, least]));
}
