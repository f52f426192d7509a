/** A semaphore that limits concurrent work. Waiters are served in order of arrival. */
export interface Slots {
  /** Runs the work as soon as a slot is free. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves with a release function once a slot is free. If the signal aborts first, it resolves without a slot. */
  acquire(signal?: AbortSignal): Promise<() => void>;
}

export function createSlots(limit: number): Slots {
  let free = limit;
  const waiting = new Set<() => void>();
  const release = () => {
    const [next] = waiting;
    if (!next) {
      free++;
      return;
    }
    waiting.delete(next);
    next();
  };
  async function take(signal?: AbortSignal): Promise<() => void> {
    if (free > 0) free--;
    else {
      const turn = Promise.withResolvers<void>();
      const leave = () => {
        if (waiting.delete(turn.resolve)) turn.reject(signal?.reason);
      };
      waiting.add(turn.resolve);
      signal?.addEventListener("abort", leave);
      try {
        await turn.promise;
      } catch {
        return () => {};
      } finally {
        signal?.removeEventListener("abort", leave);
      }
    }
    let isBack = false;
    return () => {
      if (!isBack) release();
      isBack = true;
    };
  }

  return {
    acquire: take,
    async run(work) {
      const release = await take();
      try {
        return await work();
      } finally {
        release();
      }
    },
  };
}
