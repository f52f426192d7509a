/**
 * Frees memory after a burst of jobs. The JavaScript engine grows its heap during a burst instead of collecting often,
 * and returns memory only some time after it becomes idle; the database keeps pages that it read or wrote.
 */
import type { Service } from "../../../lib/async/service.ts";
import type { App } from "../../../platform/app/context.ts";
import { createPeriodicTask } from "../../../platform/loops/periodic-task.ts";

const INTERVAL_MS = 1_000;
/** Number of writes in an interval that counts as a burst. */
const BURST_WRITES = 2_000;
/**
 * If an interval has fewer writes than this, the server is idle enough to pause for a collection. The search index writes
 * some 25 a second until it has caught up.
 */
const IDLE_WRITES = 100;
/** Idle intervals before a collection: the first jobs of a burst that follows it take a quarter longer. */
const IDLE_INTERVALS = 10;

interface IdleCollectionOptions {
  /** Runs the collection, which blocks all other work for about 40 ms. */
  collect?: () => void;
  idle_intervals?: number;
}

/** Creates the service that frees memory after a burst of jobs. */
export function createIdleCollection(
  app: App,
  { collect = () => Bun.gc(true), idle_intervals = IDLE_INTERVALS }: IdleCollectionOptions = {},
): Service {
  let before = 0;
  let collected = 0;
  let idle = 0;
  return createPeriodicTask(app, {
    failure_message: "memory could not be collected",
    first_delay_ms: INTERVAL_MS,
    interval_ms: INTERVAL_MS,
    async run() {
      const { writes } = app.db.stats();
      idle = writes - before < IDLE_WRITES ? idle + 1 : 0;
      before = writes;
      if (idle < idle_intervals || writes - collected < BURST_WRITES) return;
      collected = writes;
      app.db.freeMemory();
      collect();
    },
  });
}
