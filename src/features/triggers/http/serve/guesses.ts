/**
 * Compares the credentials of a route's callers, and limits how fast they can be guessed: different wrong ones are counted
 * per route and network. A sender that repeats an outdated one guesses nothing, and locks out no others behind its
 * address. Counts are in memory, bounded, and per process.
 */
import { timingSafeEqual } from "node:crypto";
import { Cache } from "../../../../lib/async/cache.ts";
import { memoizePerApp } from "../../../../lib/async/per-app.ts";
import { TooManyRequests } from "../../../../lib/errors.ts";
import { toNetwork } from "../../../../lib/network.ts";
import { sha256 } from "../../../../lib/text/ids.ts";
import type { App } from "../../../../platform/app/context.ts";
import { getCallerAddress } from "../../../../platform/http/guards/proxies.ts";
import type { HttpTrigger } from "../tables.ts";

const WINDOW_MS = 60_000;
const GUESSES_PER_WINDOW = 100;
const MAX_TRACKED = 5_000;

interface Guesses {
  /** Digests of wrong credentials. */
  wrong: Set<string>;
  ends: number;
}

const guessCounters = memoizePerApp<App, Cache<Guesses>>(
  (app) => new Cache({ max: MAX_TRACKED, ttl_ms: WINDOW_MS, now: () => app.clock().getTime() }),
);

/**
 * Returns whether a caller has sent the right credentials.
 * @throws TooManyRequests for any credentials of a network that has sent too many wrong ones
 */
export function isRight(
  app: App,
  { workspace_id, path }: Pick<HttpTrigger, "workspace_id" | "path">,
  request: Request,
  { sent, right }: { sent: string; right: string },
): boolean {
  const key = `${workspace_id} ${path} ${toNetwork(getCallerAddress(request))}`;
  const now = app.clock().getTime();
  const known = guessCounters(app).get(key);
  if (known && known.wrong.size >= GUESSES_PER_WINDOW) {
    const wait_s = Math.ceil((known.ends - now) / 1_000);
    throw new TooManyRequests(
      `too many wrong credentials from this address: try again in ${wait_s} s`,
      wait_s,
    );
  }
  const guess = sha256(sent);
  if (isEqual(guess, sha256(right))) return true;
  if (known) known.wrong.add(guess);
  else guessCounters(app).set(key, { wrong: new Set([guess]), ends: now + WINDOW_MS });
  return false;
}

/** Compares digests, which have equal length, in constant time. */
function isEqual(a: string, b: string): boolean {
  return timingSafeEqual(Buffer.from(a, "hex"), Buffer.from(b, "hex"));
}
