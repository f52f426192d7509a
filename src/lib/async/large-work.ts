/** What is large is worked on one after the other: its copies count in memory, and each step of it on the clock. */

/** Bytes that are large; smaller ones take no room. */
export const LARGE = 1_000_000;
/** Bytes under way at once; what is larger than that by itself is alone. */
const MOST_BYTES = 32_000_000;

interface Waiting {
  bytes: number;
  enter: () => void;
}

export class Room {
  readonly #waiting: Waiting[] = [];
  #taken = 0;

  /**
   * Resolves when there is room for so many bytes, first come first served, in a turn of the event loop of its own.
   * @returns gives the room back; more than once is once
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
      this.#admit();
    };
  }

  #admit(): void {
    setImmediate(() => {
      const next = this.#waiting[0];
      if (!next || (this.#taken > 0 && this.#taken + next.bytes > MOST_BYTES)) return;
      this.#waiting.shift();
      this.#taken += next.bytes;
      next.enter();
      if (this.#waiting.length > 0) this.#admit();
    });
  }
}
