/** Token expiry: a token's own expiration, or the instance's maximum age, whichever comes first. */

import { BadRequest } from "../../../lib/errors.ts";
import type { App } from "../../../platform/app/context.ts";

export interface TokenLifetime {
  created_at: Date;
  expiration: Date | null;
}

/** Returns the maximum age of tokens in milliseconds, or undefined if the instance sets none. */
export function getMaxTokenAgeMs(app: App): number | undefined {
  const seconds = app.settings.get("max_token_lifetime_secs");
  return seconds === undefined ? undefined : seconds * 1000;
}

/**
 * Returns when the token expires; undefined: never. The maximum age applies to existing tokens too, from the moment it
 * is set.
 */
export function computeTokenExpiry(app: App, { created_at, expiration }: TokenLifetime): Date | undefined {
  const cap = getMaxTokenAgeMs(app);
  if (cap === undefined) return expiration ?? undefined;
  const oldest = created_at.getTime() + cap;
  return new Date(Math.min(oldest, expiration?.getTime() ?? oldest));
}

/** Checks the expiration that a caller asks for. @throws BadRequest for a time in the past or beyond the maximum age */
export function requireValidExpiration(app: App, expiration: Date): void {
  const now = app.clock();
  if (expiration <= now) throw new BadRequest("body field `expiration`: must be in the future");
  const cap = getMaxTokenAgeMs(app);
  if (cap === undefined || expiration.getTime() - now.getTime() <= cap) return;
  const latest = new Date(now.getTime() + cap).toISOString();
  throw new BadRequest(
    `body field \`expiration\`: must be ${latest} or earlier: tokens of this instance are valid for at most ${cap / 1000} seconds`,
  );
}
