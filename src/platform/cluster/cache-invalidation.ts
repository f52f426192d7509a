/**
 * Cluster-wide cache invalidation. Caches declared here need no TTL: `invalidate` runs on every server, and
 * `invalidateAll` runs whenever messages may have been missed.
 */
import type { App } from "../app/context.ts";

/**
 * Maximum time that identities and memberships are cached. Changes that another program makes in the database are not
 * published, and take effect after this.
 */
export const IDENTITY_TTL_MS = 60_000;

interface Invalidation {
  /** Drops the entries named by the arguments. */
  forget: (app: App, ...words: string[]) => void;
  forgetAll: (app: App) => void;
}

const invalidations = new Map<string, Invalidation>();

/**
 * Defines an invalidation of a cache.
 * @returns a function that invalidates here and on all other servers; call it after the commit of the change
 */
export function defineInvalidation<W extends (string | undefined)[]>(
  name: string,
  memory: { forget: (app: App, ...words: W) => void; forgetAll: (app: App) => void },
): (app: App, ...words: W) => void {
  invalidations.set(name, memory as unknown as Invalidation);
  return (app, ...words) => {
    memory.forget(app, ...words);
    // Optional arguments come last, so absent ones can be dropped.
    app.bus.publish(name, ...words.filter((word) => word !== undefined));
  };
}

/** Subscribes this server to the invalidations of the others. */
export function startInvalidations(app: App): void {
  for (const [name, { forget, forgetAll }] of invalidations) {
    app.bus.subscribe(name, (...words) => forget(app, ...words));
    app.bus.onMissed(() => forgetAll(app));
  }
}
