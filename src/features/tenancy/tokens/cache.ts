/**
 * Caches the identities of recently used tokens, so resolving one needs no query. A revoked token is invalidated at
 * once on all servers.
 */

import { Cache } from "../../../lib/async/cache.ts";
import { memoizePerApp } from "../../../lib/async/per-app.ts";
import type { App, Identity } from "../../../platform/app/context.ts";
import { defineInvalidation, IDENTITY_TTL_MS } from "../../../platform/cluster/cache-invalidation.ts";
import type { TokenLifetime } from "./lifetime.ts";

const MAX_CACHED = 20_000;
/** How long an unknown token is cached, so that a flood of them does not become a flood of queries. */
const UNKNOWN_TOKEN_TTL_MS = 1_000;

/** A token's identity, and the times its expiry is computed from. */
export interface CachedToken {
  identity: Identity;
  lifetime: TokenLifetime;
}

export interface TokenCache {
  /** By hash; null for unknown tokens. */
  entries: Cache<CachedToken | null>;
  /** Time of last use by hash, since the last flush. */
  lastUses: Map<string, Date>;
}

export const getTokenCache = memoizePerApp<App, TokenCache>((app) => ({
  entries: new Cache({ max: MAX_CACHED, ttl_ms: IDENTITY_TTL_MS, now: () => app.clock().getTime() }),
  lastUses: new Map(),
}));

/** Loads a token into the cache; concurrent calls share one query. @returns null if it is unknown */
export function loadCachedToken(
  app: App,
  hash: string,
  look: () => Promise<CachedToken | null>,
): Promise<CachedToken | null> {
  return getTokenCache(app).entries.load(hash, look, (known) =>
    known ? IDENTITY_TTL_MS : UNKNOWN_TOKEN_TTL_MS,
  );
}

const invalidateToken = defineInvalidation<[hash?: string]>("token", {
  forget(app, hash) {
    const { entries } = getTokenCache(app);
    if (hash === undefined) entries.clear();
    else entries.delete(hash);
  },
  forgetAll: (app) => getTokenCache(app).entries.clear(),
});

/**
 * Invalidates all tokens. Call it after a commit that changed many users, since other servers may cache tokens this one
 * does not know.
 */
export function invalidateAllTokens(app: App): void {
  invalidateToken(app);
}

/** Invalidates tokens. Call it after the commit that revoked them or changed their owner. */
export function invalidateTokens(app: App, hashes: Iterable<string>): void {
  for (const hash of hashes) invalidateToken(app, hash);
}
