/** Rate limiter per address. Its memory is bounded: a flood of addresses only evicts older counts sooner. */

import { Cache } from "../../../lib/async/cache.ts";
import { toNetwork } from "../../../lib/network.ts";

const MINUTE_MS = 60_000;
const MAX_TRACKED_ADDRESSES = 20_000;

export interface RateLimiter {
  /**
   * Counts one call of this address.
   * @returns seconds until the next call is allowed; undefined while below the limit
   */
  count(address: string): number | undefined;
}

/**
 * Creates a rate limiter by address.
 * @param limit calls per minute; 0 means no limit
 * @param now Unix time in milliseconds
 */
export function createRateLimiter(limit: number, now: () => number): RateLimiter {
  const windows = new Cache<{ count: number; ends: number }>({
    max: MAX_TRACKED_ADDRESSES,
    ttl_ms: MINUTE_MS,
    now,
  });
  return {
    count(address) {
      if (limit === 0) return undefined;
      const key = toNetwork(address);
      const at = now();
      const window = windows.get(key);
      if (!window) {
        windows.set(key, { count: 1, ends: at + MINUTE_MS });
        return undefined;
      }
      window.count++;
      return window.count > limit ? Math.ceil((window.ends - at) / 1000) : undefined;
    },
  };
}
