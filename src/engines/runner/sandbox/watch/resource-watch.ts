/**
 * Limits the resources of running jobs. Jobs shorter than the first check cost nothing; for longer ones, the main
 * process's memory is checked often and the whole tree at intervals.
 */
import type { JobError, JobLimits } from "../../types.ts";
import { createOutOfMemoryError } from "./out-of-memory.ts";
import {
  listChildren,
  listProcessTree,
  measureProcesses,
  readProportionalBytes,
  readResidentBytes,
} from "./process-tree.ts";
import { createStorageWatch, type StorageUser } from "./storage-watch.ts";

/** A running job with the data needed to check its limits. */
export interface WatchedJob extends StorageUser {
  readonly job_id: string;
  readonly limits: JobLimits;
  /** Start in `performance.now()` milliseconds. */
  readonly since: number;
  /**
   * Whether the job's processes are those below `pid`, which is the runner's own process and remains. That process
   * reaps orphans, so their processor time is included in its own.
   */
  readonly isHosted?: boolean;
}

/** Age of a job at its first check, and interval of checks of its whole tree. */
const FIRST_CHECK_MS = 100;
const TREE_INTERVAL_MS = 250;
const STORAGE_INTERVAL_MS = 500;
const MB = 1024 * 1024;

interface WatchState {
  /** Processor time of earlier jobs in the same process, in seconds. */
  cpu_s: number;
}

export interface ResourceWatch {
  /** Checks all limits. @param idle idle processes, which may still store data */
  look(now: number, jobs: Iterable<WatchedJob>, idle: Iterable<StorageUser>): void;
}

/**
 * Creates the service that enforces the resource limits of running jobs.
 * @param directory a folder on the disk that jobs write to
 */
export function createResourceWatch(directory: string): ResourceWatch {
  const seen = new WeakMap<WatchedJob, WatchState>();
  let treeAt = 0;
  let storedAt = 0;
  const storage = createStorageWatch(directory);

  function checkTree(job: WatchedJob, pid: number): void {
    const { limits } = job;
    const pids = listProcessTree(pid).slice(job.isHosted ? 1 : 0);
    // Measured before the processes that it may reap in the meantime, so that none counts twice.
    const host = job.isHosted ? measureProcesses([pid]) : undefined;
    const usage = measureProcesses(pids);
    const used_s = usage.cpu_s + (host?.cpu_s ?? 0);
    let before = seen.get(job);
    if (!before) {
      before = { cpu_s: used_s };
      seen.set(job, before);
    }
    const cpu_s = used_s - before.cpu_s;
    if (limits.processes > 0 && usage.processes > limits.processes) {
      job.fail(tooManyProcesses(usage.processes, limits.processes));
    } else if (limits.memory_mb > 0 && usage.bytes > limits.memory_mb * MB) {
      checkMemory(job, pids);
    } else if (limits.cpu_s > 0 && cpu_s > limits.cpu_s) {
      job.fail(tooMuchTime(cpu_s, limits.cpu_s));
    }
  }

  function checkMemory(job: WatchedJob, pids: number[]): void {
    const bytes = pids.length === 1 ? readResidentBytes(pids[0]!) : readProportionalBytes(pids);
    if (bytes > job.limits.memory_mb * MB) job.fail(createOutOfMemoryError(bytes, job.limits.memory_mb));
  }

  return {
    look(now, jobs, idle) {
      const old: WatchedJob[] = [];
      for (const job of jobs) if (now - job.since > FIRST_CHECK_MS && job.pid !== undefined) old.push(job);
      if (now - storedAt >= STORAGE_INTERVAL_MS) {
        storedAt = now;
        storage.checkAll([...old, ...idle]);
      }
      const looksAtTrees = now - treeAt >= TREE_INTERVAL_MS;
      if (looksAtTrees) treeAt = now;
      for (const job of old) {
        const limit = job.limits.memory_mb * MB;
        if (looksAtTrees || !seen.has(job)) checkTree(job, job.pid!);
        else if (limit > 0) {
          const main = job.isHosted ? listChildren(job.pid!) : [job.pid!];
          if (main.some((pid) => readResidentBytes(pid) > limit)) checkMemory(job, main);
        }
      }
    },
  };
}

function tooManyProcesses(count: number, limit: number): JobError {
  const message = `the job ran ${count} processes at once, more than the ${limit} allowed, and was stopped`;
  return { name: "TooManyProcesses", message };
}

function tooMuchTime(used: number, limit: number): JobError {
  const message = `the job took ${Math.floor(used)} s of processor time, more than the ${limit} s allowed, and was stopped`;
  return { name: "CpuTimeExceeded", message };
}
