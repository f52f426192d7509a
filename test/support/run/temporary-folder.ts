/**
 * Chooses the folder for temporary files of a test run: in memory if there is enough, because they are many
 * and short-lived.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync, statfsSync } from "node:fs";
import { freemem } from "node:os";
import { join } from "node:path";

/** A file system in memory on Linux; containers often have a tiny one. */
const IN_MEMORY = "/dev/shm";
/** Required free space; all suites together use less than half of it. */
const NEEDED_BYTES = 6 * 1024 ** 3;

/**
 * Sets `TMPDIR`, unless it is set, to a new folder in memory: creating and deleting files takes a third of the
 * processor time there, and nothing waits for a disk. Not used on systems that forbid running programs from
 * there. The folder is removed when this process ends, with the files that tests left.
 */
export function useMemoryForTemporaryFiles(): void {
  if (process.env.TMPDIR !== undefined || !hasRoom()) return;
  const folder = mkdtempSync(join(IN_MEMORY, "svc-run-"));
  // PostgreSQL and scripts run as other users.
  chmodSync(folder, 0o711);
  process.env.TMPDIR = folder;
  removeAtExit(folder);
}

/** Removes a folder when this process ends; a failure to remove it does not fail the run. */
export function removeAtExit(folder: string): void {
  process.on("exit", () => {
    try {
      rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
    } catch (cause) {
      console.error(`${folder} could not be removed: ${String(cause)}`);
    }
  });
}

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY);
    const mount = readFileSync("/proc/mounts", "utf8")
      .split("\n")
      .find((line) => line.split(" ")[1] === IN_MEMORY);
    const allowsPrograms = mount !== undefined && !mount.split(" ")[3]!.split(",").includes("noexec");
    return allowsPrograms && bavail * bsize >= NEEDED_BYTES && freemem() >= NEEDED_BYTES;
  } catch {
    return false;
  }
}
