/**
 * Work on many rows, done in pieces: whoever else calls is served between two of them, however many there are. A piece
 * grows or shrinks with how long the last one took, so that on a busy machine it is a small one.
 */
import { pause } from "./pause.ts";

/** How long a piece should take. */
const AIM_MS = 20;
/** The first one, and the smallest: what is slow because others are busy must not become slower than that. */
const LEAST = 100;

/** Knows how many items the next piece should have. */
function createSize(most: number): { next: number; took(ms: number): void } {
  const size = {
    next: Math.min(LEAST, most),
    took(ms: number) {
      const factor = Math.min(2, Math.max(0.25, AIM_MS / Math.max(ms, 0.1)));
      size.next = Math.min(most, Math.max(LEAST, Math.round(size.next * factor)));
    },
  };
  return size;
}

/**
 * Does something with each item, some of them at a time, in their order.
 * @param work gets consecutive items
 * @param most items of one piece
 * @returns what the pieces answered, one after the other
 */
export async function inPieces<T, R>(
  items: readonly T[],
  work: (some: readonly T[]) => Promise<readonly R[]>,
  most = 1_000,
): Promise<R[]> {
  const size = createSize(most);
  const answers: R[] = [];
  for (let at = 0; at < items.length; ) {
    if (at > 0) await pause();
    const some = items.slice(at, at + size.next);
    const began = performance.now();
    for (const answer of await work(some)) answers.push(answer);
    size.took(performance.now() - began);
    at += some.length;
  }
  return answers;
}

/**
 * Repeats a piece of work until it finds nothing left.
 * @param piece does its work on so many rows at most. @returns on how many; 0 when none was left
 */
export async function untilNone(piece: (most: number) => Promise<number>, most = 2_000): Promise<number> {
  const size = createSize(most);
  for (let total = 0; ; ) {
    const began = performance.now();
    const done = await piece(size.next);
    if (done === 0) return total;
    size.took(performance.now() - began);
    total += done;
    await pause();
  }
}
