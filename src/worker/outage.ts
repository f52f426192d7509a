/** Waiting for a database that cannot be used for now: it restarts, or its disk is full. */
import type { App } from "../context.ts";
import { isOutage } from "../database/failure.ts";

/** Pauses between tries; the last one again and again. */
const PAUSES_MS = [100, 500, 1_000, 2_000, 5_000];

/** @param tries how often it was tried before */
export function pauseAfter(tries: number): number {
  return PAUSES_MS[Math.min(tries, PAUSES_MS.length - 1)]!;
}

/** Keeps no process running that has nothing else to do. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms).unref());
}

/**
 * Does what can be done over again until the database is there for it.
 * @param signal once it is aborted, the failure is passed on
 */
export async function throughOutage<T>(
  app: App,
  about: { job: string },
  work: () => Promise<T>,
  signal?: AbortSignal,
): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await work();
    } catch (cause) {
      if (!isOutage(cause) || signal?.aborted) throw cause;
      const again_in_ms = pauseAfter(tries);
      app.log.warn({ ...about, error: String(cause), again_in_ms }, "a job waits for the database");
      await pause(again_in_ms);
    }
  }
}
