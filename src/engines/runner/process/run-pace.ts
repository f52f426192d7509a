/** How quickly a child's jobs run: decides whether it is sent runs in advance. */
import type { Done } from "../protocol.ts";

/** Jobs that run longer than this are not quick. */
const QUICK_MS = 10;
/** Jobs that run longer than this are not very quick. */
const VERY_QUICK_MS = 2;
/** Weight of the latest run in the average. */
const WEIGHT = 1 / 32;

export class RunPace {
  /** Average run time of its jobs in milliseconds (smoothed). */
  average_ms = 0;
  /** Number of consecutive last jobs that were quick, printed nothing and did not call the server. */
  quick_runs = 0;
  /** The same for very quick ones. */
  very_quick_runs = 0;

  /** Records the run time of a job, whether it failed or not. @param calls whether the child's jobs call the server */
  count({ ran_ms, fence }: Done, calls: boolean): void {
    if (ran_ms === undefined) return;
    const isQuiet = fence === 0 && !calls;
    this.quick_runs = isQuiet && ran_ms <= QUICK_MS ? this.quick_runs + 1 : 0;
    this.very_quick_runs = isQuiet && ran_ms <= VERY_QUICK_MS ? this.very_quick_runs + 1 : 0;
    this.average_ms += (ran_ms - this.average_ms) * WEIGHT;
  }
}
