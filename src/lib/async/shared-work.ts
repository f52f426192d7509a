/** Work shared by several callers. It is aborted when no caller waits for it any more. */
export interface SharedWork {
  /** Waits for the work's result. @param signal aborts this caller's wait; omitted: the caller always waits */
  join(signal?: AbortSignal): Promise<void>;
  isStopped(): boolean;
}

/**
 * Starts work that several callers wait for.
 * @param work starts at once; its signal is aborted when all callers have stopped waiting
 */
export function shareWork(work: (stopping: AbortSignal) => Promise<void>): SharedWork {
  const stopping = new AbortController();
  const done = work(stopping.signal);
  // Each waiting caller receives the error.
  done.catch(() => {});
  let waiting = 0;
  return {
    isStopped: () => stopping.signal.aborted,
    async join(signal) {
      waiting++;
      let isLeft = false;
      const leave = () => {
        if (isLeft) return;
        isLeft = true;
        if (--waiting === 0) stopping.abort();
      };
      if (signal?.aborted) leave();
      signal?.addEventListener("abort", leave, { once: true });
      try {
        await done;
      } finally {
        signal?.removeEventListener("abort", leave);
      }
    },
  };
}
