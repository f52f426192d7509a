/**
 * Checks whether idle processes are really idle. Leftovers of a job (a timer, a thread) are not limited like a job, so
 * a process that keeps working or starts others is discarded.
 */
import { listProcessTree, measureProcesses } from "./process-tree.ts";

interface IdleSample {
  at: number;
  cpu_s: number;
}

/** Processor share between two checks above which a process is busy; garbage collection takes less. */
const BUSY_SHARE = 0.2;
/** Listing a process's tree takes a moment, so inactive ones are checked in rotation. */
const TREES_PER_CHECK = 32;

interface IdleProcess {
  pid: number;
  /** Number of processes that have been started ahead below it. */
  waiting_with_it: number;
}

export interface IdleCheck {
  /**
   * Finds idle processes that use processor time or too much memory.
   * @param now milliseconds
   * @param limit maximum resident bytes; 0: no limit
   * @param around number of wrapper processes around each, which are idle themselves
   * @returns the processes that are busy
   */
  findBusy(processes: IdleProcess[], now: number, limit: number, around: number): number[];
}

export function createIdleCheck(): IdleCheck {
  let seen = new Map<number, IdleSample>();
  let turn = 0;

  return {
    findBusy(processes, now, limit, around) {
      const before = seen;
      const parts = Math.ceil(processes.length / TREES_PER_CHECK);
      turn++;
      seen = new Map();
      const isBusy = ({ pid, waiting_with_it }: IdleProcess, index: number) => {
        const tree = around > 0 ? listProcessTree(pid) : undefined;
        const { bytes, cpu_s } = measureProcesses(tree ?? [pid]);
        if (limit > 0 && bytes > limit) return true;
        const last = before.get(pid);
        seen.set(pid, { at: now, cpu_s });
        if (last && cpu_s - last.cpu_s > ((now - last.at) / 1_000) * BUSY_SHARE) return true;
        const hasMoved = cpu_s !== last?.cpu_s;
        if (!hasMoved && (index + turn) % parts !== 0) return false;
        return (tree ?? listProcessTree(pid)).length > 1 + around + waiting_with_it;
      };
      return processes.filter(isBusy).map(({ pid }) => pid);
    },
  };
}
