/**
 * Processes many rows in batches and yields to the event loop between them. The batch size adapts to the duration of
 * the last batch.
 *
 * Use it for work on many rows, so that no one waits for a long transaction. Work that must be completed once begun is
 * a resumable operation (features/tenancy/resumable).
 */
import { yieldToEventLoop } from "./time-slices.ts";

/** Target duration of a batch. */
const TARGET_BATCH_MS = 20;
/** First and smallest batch size, so that a busy machine does not slow the work down further. */
const MIN_BATCH_SIZE = 100;

/** Tracks the size of the next batch. */
function createBatchSize(limit: number): { next: number; took(ms: number): void } {
  const size = {
    next: Math.min(MIN_BATCH_SIZE, limit),
    took(ms: number) {
      const factor = Math.min(2, Math.max(0.25, TARGET_BATCH_MS / Math.max(ms, 0.1)));
      size.next = Math.min(limit, Math.max(MIN_BATCH_SIZE, Math.round(size.next * factor)));
    },
  };
  return size;
}

/**
 * Processes items in order, in batches.
 * @param work processes consecutive items
 * @param limit maximum batch size
 * @returns the results of all batches, concatenated
 */
export async function processInBatches<T, R>(
  items: readonly T[],
  work: (some: readonly T[]) => Promise<readonly R[]>,
  limit = 1_000,
): Promise<R[]> {
  const size = createBatchSize(limit);
  const answers: R[] = [];
  for (let at = 0; at < items.length; ) {
    if (at > 0) await yieldToEventLoop();
    const some = items.slice(at, at + size.next);
    const began = performance.now();
    for (const answer of await work(some)) answers.push(answer);
    size.took(performance.now() - began);
    at += some.length;
  }
  return answers;
}

/**
 * Repeats a batch operation until nothing is left.
 * @param piece processes up to `limit` rows
 * @returns the number processed; 0 when none is left
 */
export async function drainInBatches(
  piece: (limit: number) => Promise<number>,
  maximum = 2_000,
): Promise<number> {
  const size = createBatchSize(maximum);
  for (let total = 0; ; ) {
    const began = performance.now();
    const done = await piece(size.next);
    if (done === 0) return total;
    size.took(performance.now() - began);
    total += done;
    await yieldToEventLoop();
  }
}
