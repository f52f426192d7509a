/**
 * Measures how long the serving thread is blocked. Servers of tests run on the test's own thread, so it is
 * measured there.
 */

/**
 * Most that one call may hold the thread, on a machine where others compute too; `test/bench/jobs/hostile.ts` measures it
 * where nothing else runs.
 */
export const MAX_PAUSE_MS = 1_000;

/** The longest time for which this thread answered to nothing while `work` was under way, in milliseconds. */
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
