/** Caches which handlers a workspace has, because every completed job needs this information. */

import { Cache } from "../../../lib/async/cache.ts";
import { memoizePerApp } from "../../../lib/async/per-app.ts";
import type { App } from "../../../platform/app/context.ts";
import { defineInvalidation } from "../../../platform/cluster/cache-invalidation.ts";
import type { StoredSettings } from "./settings-records.ts";

const MAX_CACHED = 10_000;

/** The handlers of a workspace, as its settings name them. */
export type WorkspaceHandler = "error_handler" | "success_handler";
type Present = Record<WorkspaceHandler, boolean>;

/** By workspace: which it has. */
const handlerCache = memoizePerApp((_: App) => new Cache<Present>({ max: MAX_CACHED }));

/** Returns true if the cache says that there is none. All servers invalidate it when the settings change. */
export function hasNoHandler(app: App, workspace_id: string, handler: WorkspaceHandler): boolean {
  return handlerCache(app).get(workspace_id)?.[handler] === false;
}

/** Whether the workspace has the handler. @param read reads the settings on a cache miss */
export async function hasHandler(
  app: App,
  workspace_id: string,
  handler: WorkspaceHandler,
  read: () => Promise<StoredSettings>,
): Promise<boolean> {
  const handlers = handlerCache(app);
  const look = async () => listPresent(await read());
  const present = handlers.get(workspace_id) ?? (await handlers.load(workspace_id, look));
  return present[handler];
}

function listPresent({ error_handler, success_handler }: StoredSettings): Present {
  return { error_handler: Boolean(error_handler), success_handler: Boolean(success_handler?.path) };
}

/** Invalidates the cached answer; call it after a commit that changed the settings. */
export const invalidateHandlers = defineInvalidation<[workspace_id: string]>("handlers", {
  forget: (app, workspace_id) => handlerCache(app).delete(workspace_id),
  forgetAll: (app) => handlerCache(app).clear(),
});
