/** Limits long work, such as compilations, so that neither one owner nor slow work keeps others waiting. */
export interface FairSlots {
  /**
   * Takes a slot for the owner. A free one goes to the waiting owner that holds the fewest, in order of arrival.
   * @returns a function that gives the slot back; undefined if the signal aborted first
   */
  acquire(owner: string, signal?: AbortSignal): Promise<(() => void) | undefined>;
}

export interface FairSlotsOptions {
  /** Quick work that may be in progress at once. */
  limit: number;
  /** Work that has taken this many milliseconds is slow: it continues, but no longer counts towards `limit`. */
  slow_after_ms: number;
  /** Work that may be in progress at once, slow or not. One owner never holds the last `limit` places of it. */
  max: number;
}

interface Waiter {
  owner: string;
  start: () => void;
}

export function createFairSlots({ limit, slow_after_ms, max }: FairSlotsOptions): FairSlots {
  const held = new Map<string, number>();
  const waiting = new Set<Waiter>();
  let quick = 0;
  let total = 0;
  const heldBy = (owner: string) => held.get(owner) ?? 0;

  function startNext(): void {
    while (quick < limit && total < max) {
      let next: Waiter | undefined;
      for (const waiter of waiting) {
        const holds = heldBy(waiter.owner);
        if (holds < Math.max(limit, max - limit) && (!next || holds < heldBy(next.owner))) next = waiter;
      }
      if (!next) return;
      waiting.delete(next);
      next.start();
    }
  }

  /** Counts a work that starts. @returns a function to call at its end */
  function begin(owner: string): () => void {
    let isQuick = true;
    let isHeld = true;
    quick++;
    total++;
    held.set(owner, heldBy(owner) + 1);
    const endQuick = () => {
      if (isQuick) quick--;
      isQuick = false;
      startNext();
    };
    const timer = setTimeout(endQuick, slow_after_ms);
    return () => {
      if (!isHeld) return;
      isHeld = false;
      clearTimeout(timer);
      total--;
      if (heldBy(owner) === 1) held.delete(owner);
      else held.set(owner, heldBy(owner) - 1);
      endQuick();
    };
  }

  return {
    async acquire(owner, signal) {
      if (signal?.aborted) return undefined;
      const turn = Promise.withResolvers<(() => void) | undefined>();
      const waiter = { owner, start: () => turn.resolve(begin(owner)) };
      const leave = () => {
        if (waiting.delete(waiter)) turn.resolve(undefined);
      };
      waiting.add(waiter);
      signal?.addEventListener("abort", leave, { once: true });
      startNext();
      try {
        return await turn.promise;
      } finally {
        signal?.removeEventListener("abort", leave);
      }
    },
  };
}
