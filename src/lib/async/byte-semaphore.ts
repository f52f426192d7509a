/**
 * Limits the bytes of large payloads processed at once: their copies take memory, and each step takes time on the event
 * loop.
 */

/** Payloads from this size on are large; smaller ones need no permit. */
export const LARGE_BYTES = 1_000_000;
/** Bytes processed at once; a payload larger than this runs alone. */
const MAX_CONCURRENT_BYTES = 32_000_000;
/**
 * Garbage is collected after this many bytes. The collector does not count the memory of long strings: their copies
 * would stay for seconds and need several times the memory of all payloads.
 */
const COLLECT_AFTER_BYTES = 16_000_000;

interface Waiting {
  bytes: number;
  enter: () => void;
}

export class ByteSemaphore {
  readonly #waiting: Waiting[] = [];
  #taken = 0;
  #uncollected = 0;
  /** Earliest time of the next collection, by `performance.now()`. */
  #next_collection = 0;

  /**
   * Resolves when enough bytes are free, in order of arrival, in its own turn of the event loop.
   * @returns releases the bytes; further calls do nothing
   */
  async enter(bytes: number): Promise<() => void> {
    await new Promise<void>((enter) => {
      this.#waiting.push({ bytes, enter });
      if (this.#waiting.length === 1) this.#admit();
    });
    let left = false;
    return () => {
      if (left) return;
      left = true;
      this.#taken -= bytes;
      // On a later turn of the event loop: the caller that releases has just used this one.
      setImmediate(() => {
        this.#collect(bytes);
        this.#admit();
      });
    };
  }

  #collect(bytes: number): void {
    this.#uncollected += bytes;
    if (this.#uncollected < COLLECT_AFTER_BYTES) return;
    const now = performance.now();
    if (now < this.#next_collection) return;
    this.#uncollected = 0;
    Bun.gc(true);
    // A collection blocks all other work, so collections may use at most a tenth of the time.
    const end = performance.now();
    this.#next_collection = end + (end - now) * 9;
  }

  #admit(): void {
    setImmediate(() => {
      const next = this.#waiting[0];
      if (!next || (this.#taken > 0 && this.#taken + next.bytes > MAX_CONCURRENT_BYTES)) return;
      this.#waiting.shift();
      this.#taken += next.bytes;
      next.enter();
      if (this.#waiting.length > 0) this.#admit();
    });
  }
}
