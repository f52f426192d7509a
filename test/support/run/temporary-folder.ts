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
 * Points `TMPDIR`, unless it is set, to a new folder in memory: creating and deleting files takes a third of the
 * processor time there, and nothing waits for a disk. Programs are run from there, so it is not used where it forbids that.
 * The folder is removed when this process ends, with what tests left in it.
 */
export function useMemoryForTemporaryFiles(): void {
  if (process.env.TMPDIR !== undefined || !hasRoom()) return;
  const folder = mkdtempSync(join(IN_MEMORY, "svc-run-"));
  // PostgreSQL and scripts run as users of their own.
  chmodSync(folder, 0o711);
  process.env.TMPDIR = folder;
  removeAtExit(folder);
}

/** Removes a folder when this process ends; a run does not fail by what cannot be removed. */
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
