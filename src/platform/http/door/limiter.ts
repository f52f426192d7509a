/** Counts per address what must not come too often. Bounded: whoever has many addresses only makes it forget sooner. */

import { Cache } from "../../../lib/async/cache.ts";
import { networkOf } from "../../../lib/network.ts";

const MINUTE_MS = 60_000;
const MAX_TRACKED = 20_000;

export interface Limiter {
  /**
   * Counts one more of this address.
   * @returns seconds until the next one is welcome; undefined while there were not too many
   */
  count(address: string): number | undefined;
}

/**
 * @param most in one minute; 0 means no limit
 * @param now milliseconds
 */
export function createLimiter(most: number, now: () => number): Limiter {
  const windows = new Cache<{ count: number; ends: number }>({ max: MAX_TRACKED, ttl_ms: MINUTE_MS, now });
  return {
    count(address) {
      if (most === 0) return undefined;
      const key = networkOf(address);
      const at = now();
      const window = windows.get(key);
      if (!window) {
        windows.set(key, { count: 1, ends: at + MINUTE_MS });
        return undefined;
      }
      window.count++;
      return window.count > most ? Math.ceil((window.ends - at) / 1000) : undefined;
    },
  };
}
