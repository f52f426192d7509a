/** Caches which workspaces have an error handler, because every failed job needs this information. */

import { Cache } from "../../../lib/async/cache.ts";
import { perApp } from "../../../lib/async/per-app.ts";
import type { App } from "../../../platform/app/context.ts";
import { defineInvalidation } from "../../../platform/cluster/cache-invalidation.ts";

const MAX_CACHED = 10_000;

/** By workspace: whether it has one. */
const handlerCache = perApp((_: App) => new Cache<boolean>({ max: MAX_CACHED }));

/** Returns true if the cache says that there is none. All servers invalidate it when a handler is set. */
export function hasNoErrorHandler(app: App, workspace_id: string): boolean {
  return handlerCache(app).get(workspace_id) === false;
}

/** Whether the workspace has an error handler. @param look reads the settings on a cache miss */
export async function hasErrorHandler(
  app: App,
  workspace_id: string,
  look: () => Promise<boolean>,
): Promise<boolean> {
  const handlers = handlerCache(app);
  return handlers.get(workspace_id) ?? handlers.load(workspace_id, look);
}

/** Invalidates the cached answer; call it after a commit that changed the settings. */
export const invalidateErrorHandler = defineInvalidation<[workspace_id: string]>("error handler", {
  forget: (app, workspace_id) => handlerCache(app).delete(workspace_id),
  forgetAll: (app) => handlerCache(app).clear(),
});
