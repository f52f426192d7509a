/** Limits long work, such as compilations, so that neither one owner nor slow work keeps others waiting. */
export interface FairSlots {
  /**
   * Takes a slot for the owner. A free one goes to the waiting owner that holds the fewest; owners that hold equally
   * many take turns.
   * @returns a function that gives the slot back; undefined if the signal aborted first
   */
  acquire(owner: string, signal?: AbortSignal): Promise<(() => void) | undefined>;
  /** Number of slots that the owner waits for. */
  countWaiting(owner: string): number;
}

export interface FairSlotsOptions {
  /** Quick work that may be in progress at once. */
  limit: number;
  /** Work that has taken this many milliseconds is slow: it continues, but no longer counts towards `limit`. */
  slow_after_ms: number;
  /** Work that may be in progress at once, slow or not. One owner never holds the last `limit` places of it. */
  max: number;
}

interface Owner {
  name: string;
  /** Slots that it holds. */
  held: number;
  /** Starts of waiting work, in order of arrival. */
  waiting: Set<() => void>;
  /** Place in the order of turns: grows with each start and each end of its work. */
  turn: number;
}

export function createFairSlots({ limit, slow_after_ms, max }: FairSlotsOptions): FairSlots {
  /** Owners that hold slots or wait for some. */
  const owners = new Map<string, Owner>();
  const most_held = Math.max(limit, max - limit);
  let turns = 0;
  let quick = 0;
  let total = 0;

  function enterOwner(name: string): Owner {
    const owner = owners.get(name) ?? { name, held: 0, waiting: new Set(), turn: ++turns };
    owners.set(name, owner);
    return owner;
  }

  function leaveIfIdle(owner: Owner): void {
    if (owner.held === 0 && owner.waiting.size === 0) owners.delete(owner.name);
  }

  function findNext(): Owner | undefined {
    let next: Owner | undefined;
    for (const owner of owners.values()) {
      if (owner.waiting.size === 0 || owner.held >= most_held) continue;
      if (!next || owner.held < next.held || (owner.held === next.held && owner.turn < next.turn))
        next = owner;
    }
    return next;
  }

  function startNext(): void {
    while (quick < limit && total < max) {
      const owner = findNext();
      if (!owner) return;
      const [start] = owner.waiting;
      owner.waiting.delete(start!);
      start!();
    }
  }

  /** Counts a work that starts. @returns a function to call at its end */
  function begin(owner: Owner): () => void {
    let isQuick = true;
    let isHeld = true;
    quick++;
    total++;
    owner.held++;
    owner.turn = ++turns;
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
      owner.held--;
      owner.turn = ++turns;
      leaveIfIdle(owner);
      endQuick();
    };
  }

  return {
    async acquire(name, signal) {
      if (signal?.aborted) return undefined;
      const turn = Promise.withResolvers<(() => void) | undefined>();
      const owner = enterOwner(name);
      const start = () => turn.resolve(begin(owner));
      const leave = () => {
        if (!owner.waiting.delete(start)) return;
        leaveIfIdle(owner);
        turn.resolve(undefined);
      };
      owner.waiting.add(start);
      signal?.addEventListener("abort", leave, { once: true });
      startNext();
      try {
        return await turn.promise;
      } finally {
        signal?.removeEventListener("abort", leave);
      }
    },
    countWaiting: (owner) => owners.get(owner)?.waiting.size ?? 0,
  };
}
