/**
 * Counters of a running app: plain numbers, incremented in place and read only for metrics. They know no metrics
 * format, so counting costs one addition.
 */

/** A histogram: `counts[i]` counts values up to `bounds[i]`, the last one those beyond. */
export class Histogram {
  readonly bounds: readonly number[];
  readonly counts: number[];
  sum = 0;
  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.counts = new Array<number>(bounds.length + 1).fill(0);
  }

  observe(value: number): void {
    let at = 0;
    while (at < this.bounds.length && value > this.bounds[at]!) at++;
    this.counts[at]!++;
    this.sum += value;
  }
}

/** Bounds in seconds, from a warm script's duration to a long one's. */
export const DURATION_BUCKETS_S = [
  0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600,
];
/** Bounds in writes per commit. */
export const BATCH_SIZE_BUCKETS = [1, 2, 4, 8, 16, 32, 64, 128, 256];

export interface Meters {
  /** Responses of one route, by status. */
  responsesOf(method: string, route: string): Map<number, number>;
  /** Responses of all routes. */
  responses(): { method: string; route: string; statuses: ReadonlyMap<number, number> }[];
  /** Seconds from due time to start, and from start to completion. */
  readonly queueWait: Histogram;
  readonly runTime: Histogram;
  /** Completed jobs, by status. */
  readonly finished: Map<string, number>;
  /** Calls rejected by the rate limit, and rejected credentials. */
  readonly refused: { anonymous: number; credentials: number };
}

export function createMeters(): Meters {
  const routes = new Map<string, { method: string; route: string; statuses: Map<number, number> }>();
  return {
    responsesOf(method, route) {
      const key = `${method} ${route}`;
      let entry = routes.get(key);
      if (!entry) {
        entry = { method, route, statuses: new Map() };
        routes.set(key, entry);
      }
      return entry.statuses;
    },
    responses: () => [...routes.values()],
    queueWait: new Histogram(DURATION_BUCKETS_S),
    runTime: new Histogram(DURATION_BUCKETS_S),
    finished: new Map(),
    refused: { anonymous: 0, credentials: 0 },
  };
}

/** Increments a counter in a map. */
export function incrementCount<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
