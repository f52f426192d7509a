/**
 * What the parts of a running app count about themselves: plain numbers, added to where something happens and read only
 * when somebody asks for metrics. Knows no format of metrics, so that counting costs an addition and nothing else.
 */

/** How often values fell into which range: `counts[i]` those up to `bounds[i]`, the last one those beyond. */
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

/** Seconds, from what a warm script takes to what a long one does. */
export const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60, 600];
/** Writes in one commit. */
export const BATCH = [1, 2, 4, 8, 16, 32, 64, 128, 256];

export interface Meters {
  /** Answers of one route, by status. */
  answersOf(method: string, route: string): Map<number, number>;
  /** All of them. */
  answers(): { method: string; route: string; statuses: ReadonlyMap<number, number> }[];
  /** Seconds between the time a job was due and its start, and between its start and its end. */
  readonly queueWait: Histogram;
  readonly runTime: Histogram;
  /** Jobs that ended, by status. */
  readonly finished: Map<string, number>;
  /** Calls turned away for their number, and credentials that were refused. */
  readonly refused: { anonymous: number; credentials: number };
}

export function createMeters(): Meters {
  const routes = new Map<string, { method: string; route: string; statuses: Map<number, number> }>();
  return {
    answersOf(method, route) {
      const key = `${method} ${route}`;
      let entry = routes.get(key);
      if (!entry) {
        entry = { method, route, statuses: new Map() };
        routes.set(key, entry);
      }
      return entry.statuses;
    },
    answers: () => [...routes.values()],
    queueWait: new Histogram(SECONDS),
    runTime: new Histogram(SECONDS),
    finished: new Map(),
    refused: { anonymous: 0, credentials: 0 },
  };
}

/** Adds one. */
export function tally<K>(counts: Map<K, number>, key: K): void {
  counts.set(key, (counts.get(key) ?? 0) + 1);
}
