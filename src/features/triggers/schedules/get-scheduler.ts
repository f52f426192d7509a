import { perApp } from "../../../lib/async/per-app.ts";
import type { App } from "../../../platform/app/context.ts";

/** Wakes the scheduler when the next due time may have changed; a no-op where there is none. */
export const getScheduler = perApp<App, { wake(): void }>(() => ({ wake: () => {} }));
