/**
 * Guards for unauthenticated calls: rate limits per address, a delay for failed authentication, and a cross-site check.
 */

import { sleep } from "../../../lib/async/sleep.ts";
import { Forbidden, TooManyRequests, Unauthorized } from "../../../lib/errors.ts";
import type { App } from "../../app/context.ts";
import type { Operation } from "../operation.ts";
import { isCrossSite, type Site } from "./credentials.ts";
import { getCallerAddress } from "./proxies.ts";
import { createRateLimiter } from "./rate-limiter.ts";

/** Delay of responses to failed authentication above the rate limit. */
const DELAY_MS = 2_000;
/** Maximum number of responses delayed at once; each holds a connection. */
const MAX_DELAYED_ANSWERS = 1_000;

export interface AnonymousGuard {
  /** Returns the guard of an operation for unauthenticated callers; `token` is a token that identified nobody. */
  guardFor(op: Operation): (request: Request, token: string | undefined) => Promise<void> | void;
  /** Counts an unauthenticated call. @returns the error to send if the limit is exceeded */
  countAnonymous(request: Request): TooManyRequests | undefined;
}

export function createAnonymousGuard(app: App, site: Site): AnonymousGuard {
  const now = () => app.clock().getTime();
  const anonymous = createRateLimiter(app.config.anonymous_rate, now);
  const failures = createRateLimiter(app.config.failed_auth_rate, now);
  let delayed = 0;

  function checkAnonymousLimit(request: Request): TooManyRequests | undefined {
    const wait = anonymous.count(getCallerAddress(request));
    if (wait === undefined) return undefined;
    app.meters.refused.anonymous++;
    return new TooManyRequests(
      `too many calls without credentials from this address: try again in ${wait} s`,
      wait,
    );
  }

  /**
   * Delays the response to a failed authentication.
   * @throws TooManyRequests when too many responses are delayed already
   */
  async function delayResponse(request: Request): Promise<void> {
    app.meters.refused.credentials++;
    const wait = failures.count(getCallerAddress(request));
    if (wait === undefined) return;
    if (delayed >= MAX_DELAYED_ANSWERS) {
      throw new TooManyRequests(
        `too many invalid credentials from this address: try again in ${wait} s`,
        wait,
      );
    }
    delayed++;
    await sleep(DELAY_MS);
    delayed--;
  }

  return {
    countAnonymous: checkAnonymousLimit,
    guardFor(op) {
      if (op.access !== "anyone") {
        return async (request) => {
          await delayResponse(request);
          throw createUnauthorized(op, request, site);
        };
      }
      // A login sent by another site would plant its own session (login CSRF). GET is exempt because signed links are
      // opened from anywhere; operations with `cors` declare themselves exempt.
      const ownPagesOnly = op.method !== "GET" && !op.cors;
      return async (request, token) => {
        if (!op.exemptFromRateLimit) {
          if (token !== undefined) await delayResponse(request);
          const error = checkAnonymousLimit(request);
          if (error) throw error;
        }
        if (ownPagesOnly && isCrossSite(request, site)) {
          throw new Forbidden("this call is not allowed from a page of another site");
        }
      };
    },
  };
}

function createUnauthorized(op: Operation, request: Request, site: Site): Unauthorized {
  if (op.cookie === "ignored" && request.headers.has("cookie")) {
    return new Unauthorized(
      "a valid token is needed: a GET request with only a cookie cannot start or change anything",
      {
        hint: "send the token in the header `Authorization: Bearer …`, or call by POST",
      },
    );
  }
  if (!request.headers.has("cookie") || !isCrossSite(request, site)) {
    return new Unauthorized("a valid token is needed");
  }
  return new Unauthorized("a valid token is needed: the cookie counts only for pages of this server", {
    hint: "behind a proxy, set base_url (SVC_BASE_URL) to the public address, or SVC_TRUSTED_PROXIES",
  });
}
