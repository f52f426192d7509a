/** Waiting longer after each failure, and doing again what may succeed later: the one place that knows how. */
import { sleep } from "./sleep.ts";

export interface Backoff {
  /** After the first failure. */
  first_ms: number;
  /** However many failures there were. */
  max_ms: number;
  /** By how much each delay is longer than the one before. */
  factor?: number;
  /**
   * The part of a delay, 0 to 1, that is drawn at random: many that failed at the same moment do not come back at the same
   * moment. A delay is never longer for it.
   */
  jitter?: number;
}

const FACTOR = 2;
const JITTER = 0.25;

/**
 * Returns the delay before the next attempt, in milliseconds.
 * @param failures in a row so far, at least 1
 */
export function backoffMs(
  { first_ms, max_ms, factor = FACTOR, jitter = JITTER }: Backoff,
  failures: number,
  random: () => number = Math.random,
): number {
  const delay = Math.min(first_ms * factor ** (Math.max(1, failures) - 1), max_ms);
  return delay * (1 - jitter * random());
}

export interface Retry {
  backoff: Backoff;
  /** Whether it may succeed later. What else is thrown is passed on at once. */
  isRetryable: (cause: unknown) => boolean;
  /** Once it is aborted, the next failure is passed on, and a delay ends at once. */
  signal?: AbortSignal | undefined;
  /** Called before each delay. */
  onRetry?: (cause: unknown, delay_ms: number, failures: number) => void;
}

/** Calls `attempt` until it succeeds. @throws what cannot be retried, and the last failure once the signal is aborted */
export async function retry<T>(
  { backoff, isRetryable, signal, onRetry }: Retry,
  attempt: (failures: number) => Promise<T>,
): Promise<T> {
  for (let failures = 0; ; ) {
    try {
      return await attempt(failures);
    } catch (cause) {
      if (signal?.aborted || !isRetryable(cause)) throw cause;
      const delay_ms = backoffMs(backoff, ++failures);
      onRetry?.(cause, Math.round(delay_ms), failures);
      await sleep(delay_ms, signal);
      if (signal?.aborted) throw cause;
    }
  }
}
