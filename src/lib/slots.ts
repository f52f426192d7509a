/** Bounds how much of one kind of work goes on at once; the rest waits in order of arrival. */
export interface Slots {
  /** Does the work as soon as there is a slot for it. */
  run<T>(work: () => Promise<T>): Promise<T>;
}

export function createSlots(most: number): Slots {
  const waiting: (() => void)[] = [];
  let free = most;
  return {
    async run(work) {
      if (free > 0) free--;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await work();
      } finally {
        const next = waiting.shift();
        // The slot goes on to it.
        if (next) next();
        else free++;
      }
    },
  };
}
