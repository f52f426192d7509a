/** Identities of tokens seen recently. Resolving one of them costs no query; a revoked one is forgotten at once. */

import { Cache } from "../../../lib/async/cache.ts";
import { perApp } from "../../../lib/async/per-app.ts";
import type { App, Identity } from "../../../platform/app/context.ts";
import { forgottenEverywhere, IDENTITY_TTL_MS } from "../../../platform/cluster/cache-invalidation.ts";
import type { Lifetime } from "./lifetime.ts";

const MAX_CACHED = 20_000;
/** A flood of unknown tokens should not become a flood of queries. */
const UNKNOWN_MS = 1_000;

/** Whose a token is, and the times that its end follows from. */
export interface KnownToken {
  identity: Identity;
  lifetime: Lifetime;
}

export interface TokenCache {
  /** By hash; null for what is no token. */
  entries: Cache<KnownToken | null>;
  /** Hashes used since the last flush, and when. */
  used: Map<string, Date>;
}

export const tokenCache = perApp<App, TokenCache>((app) => ({
  entries: new Cache({ max: MAX_CACHED, ttl_ms: IDENTITY_TTL_MS, now: () => app.clock().getTime() }),
  used: new Map(),
}));

/** Asked for once by all who come with it meanwhile. @returns null for what is no token */
export function loadToken(
  app: App,
  hash: string,
  look: () => Promise<KnownToken | null>,
): Promise<KnownToken | null> {
  return tokenCache(app).entries.load(hash, look, (known) => (known ? IDENTITY_TTL_MS : UNKNOWN_MS));
}

const forgetToken = forgottenEverywhere<[hash?: string]>("token", {
  forget(app, hash) {
    const { entries } = tokenCache(app);
    if (hash === undefined) entries.clear();
    else entries.delete(hash);
  },
  forgetAll: (app) => tokenCache(app).entries.clear(),
});

/** Called after a commit that changed who many people are: other servers know tokens that this one does not. */
export function forgetAllTokens(app: App): void {
  forgetToken(app);
}

/** Called after the commit that revoked them or changed whose they are. */
export function forgetTokens(app: App, hashes: Iterable<string>): void {
  for (const hash of hashes) forgetToken(app, hash);
}
