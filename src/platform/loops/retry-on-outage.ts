/** Retries while the database is unavailable: it restarts, or its disk is full. */

import { isOutage } from "../../database/failure.ts";
import { type Backoff, retryWithBackoff } from "../../lib/async/retry.ts";
import type { StopRequest } from "../../lib/async/sleep.ts";
import type { Log } from "../../lib/logging/log.ts";

export const OUTAGE_BACKOFF: Backoff = { first_ms: 100, max_ms: 5_000, factor: 3 };

/**
 * Runs idempotent work, retrying while the database is unavailable.
 * @param signal once aborted, the error is thrown instead
 */
export function retryOnOutage<T>(
  app: { log: Pick<Log, "warn"> },
  about: { job: string } | { what: string },
  work: () => Promise<T>,
  signal?: AbortSignal | StopRequest,
): Promise<T> {
  const onRetry = (cause: unknown, again_in_ms: number) =>
    app.log.warn(
      { ...about, error: String(cause), again_in_ms },
      "the database is unavailable: this will be retried",
    );
  return retryWithBackoff({ backoff: OUTAGE_BACKOFF, isRetryable: isOutage, signal, onRetry }, work);
}
