/**
 * Runs a garbage collection after a burst of jobs. The JavaScript engine grows its heap during a burst instead of
 * collecting often, and returns memory only some time after it becomes idle.
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

/**
 * Creates the service that collects garbage after a burst of jobs.
 * @param collect runs the collection, which blocks all other work for about 20 ms
 */
export function createIdleCollection(app: App, collect: () => void = () => Bun.gc(true)): Service {
  let before = 0;
  let collected = 0;
  return createPeriodicTask(app, {
    failure_message: "memory could not be collected",
    first_delay_ms: INTERVAL_MS,
    interval_ms: INTERVAL_MS,
    async run() {
      const { writes } = app.db.stats();
      const isIdle = writes - before < IDLE_WRITES;
      before = writes;
      if (!isIdle || writes - collected < BURST_WRITES) return;
      collected = writes;
      collect();
    },
  });
}
