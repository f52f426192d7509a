/** Identities of tokens seen recently. Resolving one of them costs no query; a revoked one is forgotten at once. */
import type { App, Identity } from "../../context.ts";
import { forgottenEverywhere } from "../../events/forgetting.ts";
import { perApp } from "../../lib/per-app.ts";
import type { Lifetime } from "./lifetime.ts";

const MAX_CACHED = 20_000;
/** Rights of who calls may be changed by what tells of no token: they are asked for again after this. */
export const FRESH_MS = 60_000;
/** A flood of unknown tokens should not become a flood of queries. */
const UNKNOWN_MS = 1_000;

/** Whose a token is, and the times that its end follows from. */
export interface KnownToken {
  identity: Identity;
  lifetime: Lifetime;
}

interface Entry {
  known: KnownToken | undefined;
  until: number;
}

export interface TokenCache {
  entries: Map<string, Entry>;
  /** Raised by every revocation, so that a lookup begun before one does not store what it saw. */
  generation: number;
  /** Hashes used since the last flush, and when. */
  used: Map<string, Date>;
}

export const tokenCache = perApp<App, TokenCache>(() => ({
  entries: new Map(),
  generation: 0,
  used: new Map(),
}));

export function rememberToken(app: App, hash: string, known: KnownToken | undefined): void {
  const { entries } = tokenCache(app);
  if (entries.size >= MAX_CACHED) entries.delete(entries.keys().next().value!);
  entries.set(hash, { known, until: app.clock().getTime() + (known ? FRESH_MS : UNKNOWN_MS) });
}

const forgetToken = forgottenEverywhere<[hash?: string]>("token", {
  forget(app, hash) {
    if (hash === undefined) return forgetEntries(app);
    const cache = tokenCache(app);
    cache.generation++;
    cache.entries.delete(hash);
  },
  forgetAll: forgetEntries,
});

function forgetEntries(app: App): void {
  const cache = tokenCache(app);
  cache.generation++;
  cache.entries.clear();
}

/** Called after a commit that changed who many people are: other servers know tokens that this one does not. */
export function forgetAllTokens(app: App): void {
  forgetToken(app);
}

/** Called after the commit that revoked them or changed whose they are. */
export function forgetTokens(app: App, hashes: Iterable<string>): void {
  for (const hash of hashes) forgetToken(app, hash);
}
