/** When a token ends: at its own expiration, or once it is as old as the instance lets tokens become. */

import { BadRequest } from "../../../lib/errors.ts";
import type { App } from "../../../platform/app/context.ts";

export interface Lifetime {
  created_at: Date;
  expiration: Date | null;
}

/** The cap on the age of all tokens, in milliseconds; undefined while there is none. */
export function capOf(app: App): number | undefined {
  const seconds = app.settings.get("max_token_lifetime_secs");
  return seconds === undefined ? undefined : seconds * 1000;
}

/** Undefined: never. The cap may be set at any time, and counts for tokens that were there before it. */
export function endOf(app: App, { created_at, expiration }: Lifetime): Date | undefined {
  const cap = capOf(app);
  if (cap === undefined) return expiration ?? undefined;
  const oldest = created_at.getTime() + cap;
  return new Date(Math.min(oldest, expiration?.getTime() ?? oldest));
}

/** @throws BadRequest for a time that is over, or longer than tokens may hold */
export function checkExpiration(app: App, expiration: Date): void {
  const now = app.clock();
  if (expiration <= now) throw new BadRequest("body field `expiration`: must be a time to come");
  const cap = capOf(app);
  if (cap === undefined || expiration.getTime() - now.getTime() <= cap) return;
  const latest = new Date(now.getTime() + cap).toISOString();
  throw new BadRequest(
    `body field \`expiration\`: must be ${latest} or earlier: tokens of this instance hold ${cap / 1000} seconds at most`,
  );
}
