/** Lets the thread serve others: long work in pieces awaits this between two of them. */
export function pause(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** Resolves after so many milliseconds, or as soon as the signal is given. */
export function rest(ms: number, signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(done, ms);
    function done() {
      clearTimeout(timer);
      signal.removeEventListener("abort", done);
      resolve();
    }
    signal.addEventListener("abort", done);
  });
}
