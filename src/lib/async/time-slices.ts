/** Work that takes long on the thread that serves requests is cut into slices, with others' turns between them. */

/** How long a slice may be. */
const SLICE_MS = 8;

/**
 * Starts the clock of one piece of work.
 * @returns a function to await between steps: once a slice is over it gives others a turn
 */
export function createPacer(): () => Promise<void> | undefined {
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
