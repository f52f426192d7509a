/**
 * The job's working folder. Every job starts in an empty one, even in a reused process. The folder's change time tells
 * whether it was used, so a job without files costs one system call.
 */
import { fstatSync, openSync, readdirSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";

/** Two changes within this time may leave the same change time. */
const TIMESTAMP_GRANULARITY_MS = 50;
/** With more entries, removal would take too long: the folder is then removed with its process. */
const MAX_ENTRIES = 1_000;
/** Link to the folder shared with other jobs. */
const SHARED_LINK = "shared";

// Captured early, because user code may replace functions of the process.
const { chdir, cwd } = process;
const now = Date.now;
const path = cwd();
const descriptor = openSync(path, "r");
/** Change time of the empty folder; undefined while it is not conclusive. */
let emptySince: number | undefined;

/**
 * Empties the folder, except for the link to the shared folder, and makes it the working directory again.
 * @param shared target of the link; undefined: no link
 * @returns false if it could not be emptied: no other job may start here
 */
export function clearFolder(shared: string | undefined): boolean {
  try {
    if (cwd() !== path) chdir(path);
    if (shared === undefined && fstatSync(descriptor).ctimeMs === emptySince) return true;
    emptySince = undefined;
    const found = readdirSync(path);
    if (found.length > MAX_ENTRIES) return false;
    const isLinked = found.includes(SHARED_LINK) && isLinkTo(shared);
    for (const name of found) {
      if (name !== SHARED_LINK || !isLinked) rmSync(join(path, name), { recursive: true, force: true });
    }
    if (shared !== undefined && !isLinked) symlinkSync(shared, join(path, SHARED_LINK));
    if (found.length > 0 && readdirSync(path).length > (shared === undefined ? 0 : 1)) return false;
    const { ctimeMs } = fstatSync(descriptor);
    if (shared === undefined && now() - ctimeMs > TIMESTAMP_GRANULARITY_MS) emptySince = ctimeMs;
    return true;
  } catch {
    return false;
  }
}

function isLinkTo(shared: string | undefined): boolean {
  try {
    return shared !== undefined && readlinkSync(join(path, SHARED_LINK)) === shared;
  } catch {
    return false;
  }
}

/** Whether the folder contains files. Hidden ones do not count: libraries recreate theirs. */
export function hasFiles(): boolean {
  return readdirSync(path).some((name) => !name.startsWith(".") && name !== SHARED_LINK);
}
