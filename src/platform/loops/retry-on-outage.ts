/** Waiting for a database that cannot be used for now: it restarts, or its disk is full. */

import { isOutage } from "../../database/failure.ts";
import { type Backoff, retry } from "../../lib/async/retry.ts";
import type { Log } from "../../lib/logging/log.ts";

export const OUTAGE_BACKOFF: Backoff = { first_ms: 100, max_ms: 5_000, factor: 3 };

/**
 * Does what can be done over again until the database is there for it.
 * @param signal once it is aborted, the failure is passed on
 */
export function throughOutage<T>(
  app: { log: Pick<Log, "warn"> },
  about: { job: string },
  work: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  const onRetry = (cause: unknown, again_in_ms: number) =>
    app.log.warn({ ...about, error: String(cause), again_in_ms }, "a job waits for the database");
  return retry({ backoff: OUTAGE_BACKOFF, isRetryable: isOutage, signal, onRetry }, work);
}
