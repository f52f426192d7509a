/**
 * Watches what running jobs take of the machine. A job that is over before it is looked at costs nothing; of one that
 * runs, its own process is asked for its memory often, and the whole tree below it now and then.
 */
import type { JobError, JobLimits } from "../../types.ts";
import { outOfMemory } from "./out-of-memory.ts";
import { exactBytes, residentBytes, treeOf, usageOf } from "./process-tree.ts";
import { createStorageWatch, type Storing } from "./storage-watch.ts";

/** A running job, as far as it is watched. */
export interface Watched extends Storing {
  readonly job_id: string;
  readonly limits: JobLimits;
  /** Since when it runs, on the clock of `performance.now()`. */
  readonly since: number;
}

/** How long a job has run before it is looked at, and how far apart two looks at its whole tree are. */
const FIRST_LOOK_MS = 100;
const TREE_MS = 250;
const STORAGE_MS = 500;
const MB = 1024 * 1024;

interface Seen {
  /** Processor time that jobs before it took in the same process. */
  cpu_s: number;
}

export interface Watch {
  /** @param idle processes that wait for their next job, and may store something all the same */
  look(now: number, jobs: Iterable<Watched>, idle: Iterable<Storing>): void;
}

/** @param directory on the disk that jobs write to */
export function createWatch(directory: string): Watch {
  const seen = new WeakMap<Watched, Seen>();
  let treeAt = 0;
  let storedAt = 0;
  const storage = createStorageWatch(directory);

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

  return {
    look(now, jobs, idle) {
      const old: Watched[] = [];
      for (const job of jobs) if (now - job.since > FIRST_LOOK_MS && job.pid !== undefined) old.push(job);
      if (now - storedAt >= STORAGE_MS) {
        storedAt = now;
        storage.look([...old, ...idle]);
      }
      const looksAtTrees = now - treeAt >= TREE_MS;
      if (looksAtTrees) treeAt = now;
      for (const job of old) {
        const most = job.limits.memory_mb * MB;
        if (looksAtTrees || !seen.has(job)) checkTree(job, job.pid!);
        else if (most > 0 && residentBytes(job.pid!) > most) checkMemory(job, [job.pid!]);
      }
    },
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
