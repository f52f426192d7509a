/** Limits how many scripts are read at once, by whom: workspaces take turns, and none may queue without end. */
import { createFairSlots } from "../../lib/async/fair-slots.ts";
import { TooManyRequests } from "../../lib/errors.ts";

/** For whom a script is analysed. */
export interface AnalysisOwner {
  /** Workspace, "" on a command line; those whose analyses wait take turns. */
  owner: string;
  /**
   * Whether a request waits for it, which is refused if too many of the owner wait already. Jobs always wait: fewer of
   * them start at once.
   */
  for_request?: boolean | undefined;
}

export interface AnalysisSlots {
  /** Runs the work when it is the owner's turn. @throws TooManyRequests */
  run<T>(owner: AnalysisOwner, work: () => Promise<T>): Promise<T>;
}

/** Requests of one owner that may wait. */
const MAX_WAITING = 100;
/** Analyses mostly take less; longer ones continue beside the others. */
const SLOW_AFTER_MS = 2_000;

/** Creates slots for one way of reading scripts. @param limit scripts read at once; slow ones may be as many again */
export function createAnalysisSlots(limit: number): AnalysisSlots {
  const slots = createFairSlots({ limit, slow_after_ms: SLOW_AFTER_MS, max: 2 * limit });
  return {
    async run({ owner, for_request }, work) {
      if (for_request && slots.countWaiting(owner) >= MAX_WAITING) {
        throw new TooManyRequests(
          `${MAX_WAITING} scripts of workspace ${owner} are waiting to be read already: send fewer at once`,
          1,
        );
      }
      const release = await slots.acquire(owner);
      try {
        return await work();
      } finally {
        release?.();
      }
    },
  };
}
