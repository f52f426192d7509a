/**
 * Whether a process that waits for its next job rests. What a job has left behind in it (a timer, a thread) is not
 * watched as a job is, so a process that goes on working, or starts others, is not one to keep.
 */
import { treeOf, usageOf } from "./process-tree.ts";

interface Seen {
  at: number;
  cpu_s: number;
}

/** More of a processor than this, from one look to the next, is no rest: collecting garbage takes less. */
const BUSY_SHARE = 0.2;
/** Looking for what a process has started takes a moment: of many that have not moved, some at each look. */
const TREES_A_LOOK = 32;

export interface Rest {
  /**
   * @param pids of the processes that wait · @param now in ms · @param most resident bytes; 0: no limit
   * @param around how many processes stand around each of them, which do nothing themselves
   * @returns those that do not rest
   */
  restless(pids: number[], now: number, most: number, around: number): number[];
}

export function createRest(): Rest {
  let seen = new Map<number, Seen>();
  let turn = 0;

  return {
    restless(pids, now, most, around) {
      const before = seen;
      const parts = Math.ceil(pids.length / TREES_A_LOOK);
      turn++;
      seen = new Map();
      return pids.filter((pid, index) => {
        const tree = around > 0 ? treeOf(pid) : undefined;
        const { bytes, cpu_s } = usageOf(tree ?? [pid]);
        if (most > 0 && bytes > most) return true;
        const last = before.get(pid);
        seen.set(pid, { at: now, cpu_s });
        if (last && cpu_s - last.cpu_s > ((now - last.at) / 1_000) * BUSY_SHARE) return true;
        const hasMoved = cpu_s !== last?.cpu_s;
        return (hasMoved || (index + turn) % parts === 0) && (tree ?? treeOf(pid)).length > 1 + around;
      });
    },
  };
}
