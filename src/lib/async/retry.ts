/** Retries with exponential backoff. */
import { StopRequest, sleep } from "./sleep.ts";

export interface Backoff {
  /** Delay after the first failure. */
  first_ms: number;
  /** Maximum delay. */
  max_ms: number;
  /** Growth factor of the delay. */
  factor?: number;
  /**
   * Random part of a delay, 0 to 1, so that simultaneous failures do not retry simultaneously. It only shortens the
   * delay.
   */
  jitter?: number;
}

const FACTOR = 2;
const JITTER = 0.25;

/**
 * Returns the delay before the next attempt, in milliseconds.
 * @param failures consecutive failures so far, at least 1
 */
export function computeBackoffMs(
  { first_ms, max_ms, factor = FACTOR, jitter = JITTER }: Backoff,
  failures: number,
  random: () => number = Math.random,
): number {
  const delay = Math.min(first_ms * factor ** (Math.max(1, failures) - 1), max_ms);
  return delay * (1 - jitter * random());
}

export interface RetryOptions {
  backoff: Backoff;
  /** Whether the error is transient; other errors are thrown at once. */
  isRetryable: (cause: unknown) => boolean;
  /** Once aborted, the current delay ends and the next failure is thrown. */
  signal?: AbortSignal | StopRequest | undefined;
  /** Called before each delay. */
  onRetry?: (cause: unknown, delay_ms: number, failures: number) => void;
}

/**
 * Calls `attempt` until it succeeds.
 * @throws errors that are not retryable, and the last failure once the signal is aborted
 */
export async function retryWithBackoff<T>(
  { backoff, isRetryable, signal, onRetry }: RetryOptions,
  attempt: (failures: number) => Promise<T>,
): Promise<T> {
  for (let failures = 0; ; ) {
    try {
      return await attempt(failures);
    } catch (cause) {
      if (signal?.aborted || !isRetryable(cause)) throw cause;
      const delay_ms = computeBackoffMs(backoff, ++failures);
      onRetry?.(cause, Math.round(delay_ms), failures);
      await sleep(delay_ms, signal instanceof StopRequest ? signal.signal : signal);
      if (signal?.aborted) throw cause;
    }
  }
}
