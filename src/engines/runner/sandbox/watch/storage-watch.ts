/** Limits the storage of jobs: in their folders, in removed files that are still open, and in memory. */
import { readFileSync } from "node:fs";
import type { JobError } from "../../types.ts";
import { type FreeSpace, measureFolder, readFreeSpace } from "./disk.ts";
import { createOutOfMemoryError } from "./out-of-memory.ts";
import { listProcessTree } from "./process-tree.ts";
import { measureUnlinkedFiles } from "./unlinked-files.ts";

/** A user of storage: a running job, or an idle process. */
export interface StorageUser {
  readonly pid: number | undefined;
  /** Folders it writes: its own, and the one shared within its flow. */
  readonly folders: string[];
  readonly limits: { disk_mb: number; memory_mb: number };
  fail(error: JobError): void;
}

const MB = 1024 * 1024;
/** Usage is measured after the disk or the machine's memory has lost this much free space. */
const CHECK_AFTER_BYTES = 64 * MB;
const CHECK_AFTER_FILES = 20_000;
/** Maximum number of files of a job; more could not be measured in time. */
const MAX_FILES = 200_000;

export interface StorageWatch {
  checkAll(storing: StorageUser[]): void;
}

/**
 * Creates the service that enforces the storage limit of running jobs.
 * @param directory a folder on the disk that jobs write to
 */
export function createStorageWatch(directory: string): StorageWatch {
  /** Free space at the last measurement, or the maximum since. */
  let free: FreeSpace = { bytes: 0, files: 0 };
  let shared = Number.POSITIVE_INFINITY;
  let counting = false;

  function hasFilled(): boolean {
    const room = readFreeSpace(directory) ?? free;
    const memory = readSharedMemory();
    free = { bytes: Math.max(free.bytes, room.bytes), files: Math.max(free.files, room.files) };
    shared = Math.min(shared, memory);
    const lost = Math.max(free.bytes - room.bytes, memory - shared);
    if (lost < CHECK_AFTER_BYTES && free.files - room.files < CHECK_AFTER_FILES) return false;
    free = room;
    shared = memory;
    return true;
  }

  return {
    checkAll(storing) {
      if (counting || !hasFilled()) return;
      counting = true;
      void Promise.all(storing.map(check))
        // Failed measurements are repeated the next time.
        .catch(() => {})
        .finally(() => {
          counting = false;
        });
    },
  };
}

async function check(one: StorageUser): Promise<void> {
  const error = await findExcess(one);
  if (error) one.fail(error);
}

/** Returns the error if a limit is exceeded. */
async function findExcess({ pid, folders, limits }: StorageUser): Promise<JobError | undefined> {
  const { disk_mb, memory_mb } = limits;
  const limit = { bytes: disk_mb * MB, files: MAX_FILES };
  const pids = pid === undefined ? [] : listProcessTree(pid);
  const held = await measureUnlinkedFiles(pids, Math.max(disk_mb, memory_mb) * MB);
  if (memory_mb > 0 && held.memory > memory_mb * MB) return createOutOfMemoryError(held.memory, memory_mb);
  if (disk_mb === 0) return undefined;
  let bytes = held.disk;
  let files = 0;
  for (const folder of folders) {
    const taken = await measureFolder(folder, limit);
    bytes += taken.bytes;
    files += taken.files;
    if (taken.is_hidden) return hidden();
  }
  if (bytes > limit.bytes) return diskFull(bytes, disk_mb);
  return files > limit.files ? tooManyFiles(limit.files) : undefined;
}

/** Returns the shared memory of the whole machine in bytes; 0 if unavailable. */
function readSharedMemory(): number {
  try {
    return Number(/^Shmem:\s+(\d+) kB/m.exec(readFileSync("/proc/meminfo", "latin1"))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

function diskFull(bytes: number, limit: number): JobError {
  const message = `the job's files took ${Math.ceil(bytes / MB)} MB, more than the ${limit} MB allowed, and it was stopped`;
  return { name: "DiskQuotaExceeded", message };
}

function tooManyFiles(limit: number): JobError {
  const message = `the job made more than the ${limit} files allowed, and was stopped`;
  return { name: "DiskQuotaExceeded", message };
}

function hidden(): JobError {
  const message =
    "the disk fills up while the job has folders that cannot be looked into (closed, or too deep), and it was stopped";
  return { name: "DiskQuotaExceeded", message };
}
