import type { ServiceStack } from "../lib/async/service.ts";
import type { App } from "../platform/app/context.ts";
import type { JobsRole, Loop } from "../platform/app/loop.ts";

/**
 * Starts the background services of all features for this role, in order of dependency, so that each finds those that
 * process its results already running. They are stopped in reverse order.
 */
export async function startLoops(
  app: App,
  parts: ServiceStack,
  role: JobsRole,
  phase?: Loop["phase"],
): Promise<void> {
  for (const { loops = [] } of app.features.toReversed()) {
    for (const loop of loops) {
      if (loop.phase === phase && loop.roles.includes(role)) await parts.start(loop.name, loop.create(app));
    }
  }
}
