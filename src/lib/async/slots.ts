/** Bounds how much of one kind of work goes on at once; the rest waits in order of arrival. */
export interface Slots {
  /** Does the work as soon as there is a slot for it. */
  run<T>(work: () => Promise<T>): Promise<T>;
  /** Resolves when there is a slot, with what gives it back; or, without one, when the signal is given. */
  take(signal?: AbortSignal): Promise<() => void>;
}

export function createSlots(most: number): Slots {
  let free = most;
  const waiting = new Set<() => void>();
  const giveBack = () => {
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
      if (!isBack) giveBack();
      isBack = true;
    };
  }

  return {
    take,
    async run(work) {
      const giveBack = await take();
      try {
        return await work();
      } finally {
        giveBack();
      }
    },
  };
}
