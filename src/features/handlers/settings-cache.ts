/** Which workspaces have no error handler: asked at every failure, so answered from memory when it can be. */
import type { App } from "../../context.ts";
import { perApp } from "../../lib/per-app.ts";

interface Cache {
  without: Set<string>;
  /** Raised by every change, so that a look begun before one does not store what it saw. */
  generation: number;
}

const cacheOf = perApp<App, Cache>(() => ({ without: new Set(), generation: 0 }));

/** True only when it is certain: another server may just have been told of one, so where there may be others it never is. */
export function hasNoErrorHandler(app: App, workspace_id: string): boolean {
  return !app.db.channel && cacheOf(app).without.has(workspace_id);
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
export function forgetErrorHandler(app: App, workspace_id: string): void {
  const cache = cacheOf(app);
  cache.generation++;
  cache.without.delete(workspace_id);
}
