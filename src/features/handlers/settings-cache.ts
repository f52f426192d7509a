/** Which workspaces have no error handler: asked at every failure, so answered from memory when it can be. */
import type { App } from "../../context.ts";
import { forgottenEverywhere } from "../../events/forgetting.ts";
import { perApp } from "../../lib/per-app.ts";

interface Cache {
  without: Set<string>;
  /** Raised by every change, so that a look begun before one does not store what it saw. */
  generation: number;
}

const cacheOf = perApp<App, Cache>(() => ({ without: new Set(), generation: 0 }));

/** True when it is certain: all servers forget what they know when one of them is told of a handler. */
export function hasNoErrorHandler(app: App, workspace_id: string): boolean {
  return cacheOf(app).without.has(workspace_id);
}

/** Called before the settings are read. @returns what remembers that they name no handler, unless they changed since */
export function rememberingNone(app: App, workspace_id: string): () => void {
  const cache = cacheOf(app);
  const { generation } = cache;
  return () => {
    if (cache.generation === generation) cache.without.add(workspace_id);
  };
}

/** Called after the commit of a change of the settings. */
export const forgetErrorHandler = forgottenEverywhere<[workspace_id: string]>("error handler", {
  forget(app, workspace_id) {
    const cache = cacheOf(app);
    cache.generation++;
    cache.without.delete(workspace_id);
  },
  forgetAll(app) {
    const cache = cacheOf(app);
    cache.generation++;
    cache.without.clear();
  },
});
