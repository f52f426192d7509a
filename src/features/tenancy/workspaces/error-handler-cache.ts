/** Which workspaces have no error handler: asked at every failure, so answered from memory when it can be. */

import { Cache } from "../../../lib/async/cache.ts";
import { perApp } from "../../../lib/async/per-app.ts";
import type { App } from "../../../platform/app/context.ts";
import { forgottenEverywhere } from "../../../platform/cluster/cache-invalidation.ts";

const MAX_CACHED = 10_000;

/** By workspace: whether it has one. */
const handlersOf = perApp((_: App) => new Cache<boolean>({ max: MAX_CACHED }));

/** True when it is certain: all servers forget what they know when one of them is told of a handler. */
export function hasNoErrorHandler(app: App, workspace_id: string): boolean {
  return handlersOf(app).get(workspace_id) === false;
}

/** @param look reads the settings, where it is not known */
export async function hasErrorHandler(
  app: App,
  workspace_id: string,
  look: () => Promise<boolean>,
): Promise<boolean> {
  const handlers = handlersOf(app);
  return handlers.get(workspace_id) ?? handlers.load(workspace_id, look);
}

/** Called after the commit of a change of the settings. */
export const forgetErrorHandler = forgottenEverywhere<[workspace_id: string]>("error handler", {
  forget: (app, workspace_id) => handlersOf(app).delete(workspace_id),
  forgetAll: (app) => handlersOf(app).clear(),
});
