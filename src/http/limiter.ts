/** Counts per address what must not come too often. Bounded: whoever has many addresses only makes it forget sooner. */

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
  const windows = new Map<string, { count: number; ends: number }>();
  return {
    count(address) {
      if (most === 0) return undefined;
      const key = networkOf(address);
      const at = now();
      const window = windows.get(key);
      if (!window || window.ends <= at) {
        windows.delete(key);
        if (windows.size >= MAX_TRACKED) windows.delete(windows.keys().next().value!);
        windows.set(key, { count: 1, ends: at + MINUTE_MS });
        return undefined;
      }
      window.count++;
      return window.count > most ? Math.ceil((window.ends - at) / 1000) : undefined;
    },
  };
}

/** One caller has a whole /64 of IPv6 addresses (RFC 6177 §2); an IPv4 address counts by itself. */
function networkOf(address: string): string {
  if (!address.includes(":")) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address);
  if (mapped) return mapped[1]!;
  const [head = "", tail] = address.split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length;
  return [...left, ...new Array<string>(Math.max(0, zeros)).fill("0"), ...right].slice(0, 4).join(":");
}
