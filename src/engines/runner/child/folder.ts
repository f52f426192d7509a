/**
 * The job's working folder. Every job starts in an empty one, even in a reused process. The folder's change time tells
 * whether it was used, so a job without files costs one system call.
 */
import { ptr } from "bun:ffi";
import { files, nodeFs } from "./system.ts";

/** Flags of statx(2). */
const AT_EMPTY_PATH = 0x1000;
const STATX_CTIME = 0x80;
/** Offset of `stx_ctime` in struct statx: 64-bit seconds and 32-bit nanoseconds. */
const STATX_CTIME_OFFSET = 96;
const O_DIRECTORY = process.arch === "arm64" ? 0o40000 : 0o200000;
const O_CLOEXEC = 0o2000000;
/** Space for what getdents64(2) returns for `.`, `..` and a name of any length: 255 bytes and a header. */
const FOLDER_BYTES = 512;
/** What getdents64(2) returns for `.` and `..`, in bytes. */
const EMPTY_FOLDER_BYTES = 48;
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
const buffer = new DataView(new ArrayBuffer(FOLDER_BYTES));
const NO_NAME = new Uint8Array(1);
const descriptor = openFolder();
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
    if (shared === undefined && readChangeTime() === emptySince) return true;
    emptySince = undefined;
    const found = listEntries();
    if (found.length > MAX_ENTRIES) return false;
    const isLinked = found.includes(SHARED_LINK) && isLinkTo(shared);
    for (const name of found) {
      if (name !== SHARED_LINK || !isLinked)
        nodeFs().rmSync(`${path}/${name}`, { recursive: true, force: true });
    }
    if (shared !== undefined && !isLinked) nodeFs().symlinkSync(shared, `${path}/${SHARED_LINK}`);
    if (found.length > 0 && listEntries().length > (shared === undefined ? 0 : 1)) return false;
    const changed = readChangeTime();
    if (shared === undefined && now() - changed > TIMESTAMP_GRANULARITY_MS) emptySince = changed;
    return true;
  } catch {
    return false;
  }
}

function isLinkTo(shared: string | undefined): boolean {
  try {
    return shared !== undefined && nodeFs().readlinkSync(`${path}/${SHARED_LINK}`) === shared;
  } catch {
    return false;
  }
}

/** Whether the folder contains files. Hidden ones do not count: libraries recreate theirs. */
export function hasFiles(): boolean {
  return listEntries().some((name) => !name.startsWith(".") && name !== SHARED_LINK);
}

function openFolder(): number {
  const opened = files?.open(ptr(Buffer.from(`${path}\0`)), O_DIRECTORY | O_CLOEXEC) ?? -1;
  return opened < 0 ? nodeFs().openSync(path, "r") : opened;
}

/** Returns the change time in milliseconds since the epoch. */
function readChangeTime(): number {
  if (files?.statx(descriptor, ptr(NO_NAME), AT_EMPTY_PATH, STATX_CTIME, ptr(buffer)) !== 0)
    return nodeFs().fstatSync(descriptor).ctimeMs;
  const seconds = Number(buffer.getBigInt64(STATX_CTIME_OFFSET, true));
  return seconds * 1_000 + buffer.getUint32(STATX_CTIME_OFFSET + 8, true) / 1_000_000;
}

/** Lists the names in the folder. Of an empty one, two system calls tell. */
function listEntries(): string[] {
  const isEmpty =
    files?.lseek(descriptor, 0, 0) === 0 &&
    files.getdents64(descriptor, ptr(buffer), buffer.byteLength) === EMPTY_FOLDER_BYTES;
  return isEmpty ? [] : nodeFs().readdirSync(path);
}
