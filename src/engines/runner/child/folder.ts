/**
 * The folder of the job. Each begins in an empty one, also in a process that has run others: files are no part of what a
 * process keeps. The folder's own times say whether anything was put there, so a job that left nothing costs one system
 * call.
 */
import { fstatSync, openSync, readdirSync, readlinkSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";

/** Two changes within this time may leave a folder with the same times. */
const TICK_MS = 50;
/** To remove more than this would take a while: the folder then goes with its process. */
const MAX_ENTRIES = 1_000;
/** Leads to the folder that the job has in common with others. */
const SHARED = "shared";

// The user's code may replace functions of the process.
const { chdir, cwd } = process;
const now = Date.now;
const path = cwd();
const descriptor = openSync(path, "r");
/** When the folder was last changed, as it was empty; undefined while its times do not tell. */
let emptySince: number | undefined;

/**
 * Empties the folder, but for the link to what the job shares, and makes it the working directory again.
 * @param shared where that link leads; undefined: there is none
 * @returns false when it is not empty: no other job may begin there
 */
export function emptyFolder(shared: string | undefined): boolean {
  try {
    if (cwd() !== path) chdir(path);
    if (shared === undefined && fstatSync(descriptor).ctimeMs === emptySince) return true;
    emptySince = undefined;
    const found = readdirSync(path);
    if (found.length > MAX_ENTRIES) return false;
    const isLinked = found.includes(SHARED) && leadsTo(shared);
    for (const name of found) {
      if (name !== SHARED || !isLinked) rmSync(join(path, name), { recursive: true, force: true });
    }
    if (shared !== undefined && !isLinked) symlinkSync(shared, join(path, SHARED));
    if (found.length > 0 && readdirSync(path).length > (shared === undefined ? 0 : 1)) return false;
    const { ctimeMs } = fstatSync(descriptor);
    if (shared === undefined && now() - ctimeMs > TICK_MS) emptySince = ctimeMs;
    return true;
  } catch {
    return false;
  }
}

function leadsTo(shared: string | undefined): boolean {
  try {
    return shared !== undefined && readlinkSync(join(path, SHARED)) === shared;
  } catch {
    return false;
  }
}

/** Whether files stand there. Hidden ones are what libraries keep for themselves, and make anew. */
export function hasFiles(): boolean {
  return readdirSync(path).some((name) => !name.startsWith(".") && name !== SHARED);
}
