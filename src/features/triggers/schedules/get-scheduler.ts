import { memoizePerApp } from "../../../lib/async/per-app.ts";
import type { App } from "../../../platform/app/context.ts";

/** Wakes the scheduler when the next due time may have changed; a no-op where there is none. */
export const getScheduler = memoizePerApp<App, { wake(): void }>(() => ({ wake: () => {} }));
