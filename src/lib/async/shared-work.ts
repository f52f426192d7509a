/** Work that several callers wait for: it is stopped when none of them wants it any more. */
export interface SharedWork {
  /** Waits for the end of the work. @param signal this caller no longer wants it; by default it always does */
  join(signal?: AbortSignal): Promise<void>;
  isStopped(): boolean;
}

/** @param work is started at once; its signal is aborted when all who joined have left */
export function shareWork(work: (stopping: AbortSignal) => Promise<void>): SharedWork {
  const stopping = new AbortController();
  const done = work(stopping.signal);
  // Each caller receives the error.
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
