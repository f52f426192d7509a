/**
 * Measures how long the serving thread is blocked. Servers of tests run on the test's own thread, so it is
 * measured there.
 */

/**
 * Longest time that one call may block the thread on a busy machine; `test/bench/jobs/hostile.ts` measures it
 * on an idle one.
 */
export const MAX_PAUSE_MS = 1_000;

/** Returns the longest time for which this thread was blocked during `work`, in milliseconds. */
export async function longestPause(work: () => Promise<void>): Promise<number> {
  let longest = 0;
  let last = performance.now();
  const beat = setInterval(() => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  }, 2);
  try {
    await work();
  } finally {
    clearInterval(beat);
  }
  return Math.max(longest, performance.now() - last);
}
