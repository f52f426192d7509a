/** Watches what jobs store: in their folders, in files that they have removed and still write to, and in memory. */
import { readFileSync } from "node:fs";
import type { JobError } from "../../types.ts";
import { folderTakes, freeRoom, type Room } from "./disk.ts";
import { heldBytes } from "./held.ts";
import { outOfMemory } from "./out-of-memory.ts";
import { treeOf } from "./process-tree.ts";

/** Whoever stores something: a job that runs, or the process that waits for its next. */
export interface Storing {
  readonly pid: number | undefined;
  /** What it writes to: its own, and what it shares with the other jobs of its flow. */
  readonly folders: string[];
  readonly limits: { disk_mb: number; memory_mb: number };
  fail(error: JobError): void;
}

const MB = 1024 * 1024;
/** What is stored is counted when the disk, or the memory of the machine, has lost this much since. */
const STEP_BYTES = 64 * MB;
const STEP_FILES = 20_000;
/** Most files of a job: what a folder with more of them takes could not be told in time. */
const MAX_FILES = 200_000;

export interface StorageWatch {
  look(storing: Storing[]): void;
}

/** @param directory on the disk that jobs write to */
export function createStorageWatch(directory: string): StorageWatch {
  /** When it was last counted, or what was free since, if that is more. */
  let free: Room = { bytes: 0, files: 0 };
  let shared = Number.POSITIVE_INFINITY;
  let counting = false;

  function hasFilled(): boolean {
    const room = freeRoom(directory) ?? free;
    const memory = sharedMemory();
    free = { bytes: Math.max(free.bytes, room.bytes), files: Math.max(free.files, room.files) };
    shared = Math.min(shared, memory);
    const lost = Math.max(free.bytes - room.bytes, memory - shared);
    if (lost < STEP_BYTES && free.files - room.files < STEP_FILES) return false;
    free = room;
    shared = memory;
    return true;
  }

  return {
    look(storing) {
      if (counting || !hasFilled()) return;
      counting = true;
      void Promise.all(storing.map(check))
        // What cannot be counted now is counted the next time.
        .catch(() => {})
        .finally(() => {
          counting = false;
        });
    },
  };
}

async function check(one: Storing): Promise<void> {
  const error = await excessOf(one);
  if (error) one.fail(error);
}

/** What it stores too much of; undefined when it keeps to its limits. */
async function excessOf({ pid, folders, limits }: Storing): Promise<JobError | undefined> {
  const { disk_mb, memory_mb } = limits;
  const most = { bytes: disk_mb * MB, files: MAX_FILES };
  const pids = pid === undefined ? [] : treeOf(pid);
  const held = await heldBytes(pids, Math.max(disk_mb, memory_mb) * MB);
  if (memory_mb > 0 && held.memory > memory_mb * MB) return outOfMemory(held.memory, memory_mb);
  if (disk_mb === 0) return undefined;
  let bytes = held.disk;
  let files = 0;
  for (const folder of folders) {
    const taken = await folderTakes(folder, most);
    bytes += taken.bytes;
    files += taken.files;
    if (taken.is_hidden) return hidden();
  }
  if (bytes > most.bytes) return diskFull(bytes, disk_mb);
  return files > most.files ? tooManyFiles(most.files) : undefined;
}

/** Bytes of memory in files and shared segments of the whole machine; 0 where the system does not say. */
function sharedMemory(): number {
  try {
    return Number(/^Shmem:\s+(\d+) kB/m.exec(readFileSync("/proc/meminfo", "latin1"))?.[1] ?? 0) * 1024;
  } catch {
    return 0;
  }
}

function diskFull(bytes: number, most: number): JobError {
  const message = `the job's files took ${Math.ceil(bytes / MB)} MB, more than the ${most} MB allowed, and it was stopped`;
  return { name: "DiskQuotaExceeded", message };
}

function tooManyFiles(most: number): JobError {
  const message = `the job made more than the ${most} files allowed, and was stopped`;
  return { name: "DiskQuotaExceeded", message };
}

function hidden(): JobError {
  const message =
    "the disk fills up while the job has folders that cannot be looked into (closed, or too deep), and it was stopped";
  return { name: "DiskQuotaExceeded", message };
}
