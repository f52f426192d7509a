/** Cuts long work on the event loop into time slices. */

/** Maximum duration of a slice. */
const SLICE_MS = 8;

/**
 * Starts the time slices of one piece of work.
 * @returns a function to await between steps; it yields to the event loop when the slice is over
 */
export function createTimeSlices(): () => Promise<void> | undefined {
  let since = performance.now();
  return () => {
    if (performance.now() - since < SLICE_MS) return undefined;
    return new Promise((resolve) =>
      setImmediate(() => {
        since = performance.now();
        resolve();
      }),
    );
  };
}

/** Yields to the event loop; long work awaits it between steps. */
export function yieldToEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
