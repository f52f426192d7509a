/**
 * Collects garbage once after a burst of jobs. The engine grows its heap while it is busy rather than collect often, and
 * gives memory back only some time after it has become idle.
 */
import type { Service } from "../../../lib/async/service.ts";
import type { App } from "../../../platform/app/context.ts";
import { createPeriodicTask } from "../../../platform/loops/periodic-task.ts";

const INTERVAL_MS = 1_000;
/** Writes that leave enough behind to be collected. */
const BURST_WRITES = 2_000;
/** With fewer writes in an interval the server is idle enough to be stopped for a collection. */
const IDLE_WRITES = 20;

/** @param collect stops all other work for some 20 ms */
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
