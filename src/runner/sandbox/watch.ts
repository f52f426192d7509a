/**
 * Watches what running jobs take of the machine. A job that is over before it is looked at costs nothing; of one that
 * runs, its own process is asked for its memory often, and the whole tree below it now and then.
 */
import type { JobError, JobLimits } from "../types.ts";
import { folderBytes, freeBytes } from "./disk.ts";
import { exactBytes, residentBytes, treeOf, usageOf } from "./process-tree.ts";

/** A running job, as far as it is watched. */
export interface Watched {
  readonly job_id: string;
  /** Its process; undefined before it has one. */
  readonly pid: number | undefined;
  /** What it writes to: its own, and what it shares with the other jobs of its flow. */
  readonly folders: string[];
  readonly limits: JobLimits;
  /** Since when it runs, on the clock of `performance.now()`. */
  readonly since: number;
  fail(error: JobError): void;
}

/** How long a job has run before it is looked at, and how far apart two looks at its whole tree are. */
const FIRST_LOOK_MS = 100;
const TREE_MS = 250;
const DISK_MS = 1_000;
/** What a folder takes is counted when the disk has lost this much since. */
const DISK_STEP = 64 * 1024 * 1024;
const MAX_FILES = 200_000;
const MB = 1024 * 1024;

interface Seen {
  /** Processor time that jobs before it took in the same process. */
  cpu_s: number;
}

export interface Watch {
  look(now: number, jobs: Iterable<Watched>): void;
}

/** @param directory on the disk that jobs write to */
export function createWatch(directory: string): Watch {
  const seen = new WeakMap<Watched, Seen>();
  let treeAt = 0;
  let diskAt = 0;
  let free: number | undefined;
  let counting = false;

  function checkTree(job: Watched, pid: number): void {
    const { limits } = job;
    const pids = treeOf(pid);
    const usage = usageOf(pids);
    let before = seen.get(job);
    if (!before) {
      before = { cpu_s: usage.cpu_s };
      seen.set(job, before);
    }
    const cpu_s = usage.cpu_s - before.cpu_s;
    if (limits.processes > 0 && usage.processes > limits.processes) {
      job.fail(tooManyProcesses(usage.processes, limits.processes));
    } else if (limits.memory_mb > 0 && usage.bytes > limits.memory_mb * MB) {
      checkMemory(job, pids);
    } else if (limits.cpu_s > 0 && cpu_s > limits.cpu_s) {
      job.fail(tooMuchTime(cpu_s, limits.cpu_s));
    }
  }

  function checkMemory(job: Watched, pids: number[]): void {
    const bytes = pids.length === 1 ? residentBytes(pids[0]!) : exactBytes(pids);
    if (bytes > job.limits.memory_mb * MB) job.fail(outOfMemory(bytes, job.limits.memory_mb));
  }

  /** Only when the disk has filled: counting a folder is work. */
  async function checkDisk(jobs: Watched[]): Promise<void> {
    const now = freeBytes(directory);
    if (free === undefined || now > free) free = now;
    if (free - now < DISK_STEP) return;
    free = now;
    for (const job of jobs) {
      const { disk_mb } = job.limits;
      if (disk_mb === 0) continue;
      let bytes = 0;
      for (const folder of job.folders) bytes += await folderBytes(folder, disk_mb * MB, MAX_FILES);
      if (bytes > disk_mb * MB) job.fail(diskFull(bytes, disk_mb));
    }
  }

  return {
    look(now, jobs) {
      const old: Watched[] = [];
      for (const job of jobs) if (now - job.since > FIRST_LOOK_MS && job.pid !== undefined) old.push(job);
      if (old.length === 0) return;
      const looksAtTrees = now - treeAt >= TREE_MS;
      if (looksAtTrees) treeAt = now;
      for (const job of old) {
        const most = job.limits.memory_mb * MB;
        if (looksAtTrees || !seen.has(job)) checkTree(job, job.pid!);
        else if (most > 0 && residentBytes(job.pid!) > most) checkMemory(job, [job.pid!]);
      }
      if (counting || now - diskAt < DISK_MS) return;
      diskAt = now;
      counting = true;
      void checkDisk(old)
        // What cannot be counted now is counted the next time.
        .catch(() => {})
        .finally(() => {
          counting = false;
        });
    },
  };
}

function outOfMemory(bytes: number, most: number): JobError {
  const used = Math.ceil(bytes / MB);
  return {
    name: "OutOfMemory",
    message: `the job used ${used} MB of memory, more than the ${most} MB allowed, and was stopped`,
    memory_mb: used,
    limit_mb: most,
  };
}

function tooManyProcesses(count: number, most: number): JobError {
  const message = `the job ran ${count} processes at once, more than the ${most} allowed, and was stopped`;
  return { name: "TooManyProcesses", message };
}

function tooMuchTime(used: number, most: number): JobError {
  const message = `the job took ${Math.floor(used)} s of processor time, more than the ${most} s allowed, and was stopped`;
  return { name: "CpuTimeExceeded", message };
}

function diskFull(bytes: number, most: number): JobError {
  const message = `the job's folder took ${Math.ceil(bytes / MB)} MB, more than the ${most} MB allowed, and it was stopped`;
  return { name: "DiskQuotaExceeded", message };
}
