/** What is asked of callers who are nobody: that they come not too often, and that no other site sends them. */

import { sleep } from "../../../lib/async/sleep.ts";
import { Forbidden, TooManyRequests, Unauthorized } from "../../../lib/errors.ts";
import type { App } from "../../app/context.ts";
import type { Operation } from "../operation.ts";
import { isFromElsewhere, type Site } from "./credentials.ts";
import { createLimiter } from "./limiter.ts";
import { addressOf } from "./proxies.ts";

/** How long the answer takes to refused credentials that come too often. */
const DELAY_MS = 2_000;
/** Answers held back at once; each is a connection. */
const MAX_DELAYED = 1_000;

export interface FrontDoor {
  /** What an operation asks of a caller who is nobody; `token` is what did not stand for anybody. */
  of(op: Operation): (request: Request, token: string | undefined) => Promise<void> | void;
  /** Counts a call of nobody. @returns what to answer when there are too many */
  tooMany(request: Request): TooManyRequests | undefined;
}

export function createFrontDoor(app: App, site: Site): FrontDoor {
  const now = () => app.clock().getTime();
  const anonymous = createLimiter(app.config.anonymous_rate, now);
  const failures = createLimiter(app.config.failed_auth_rate, now);
  let delayed = 0;

  function tooMany(request: Request): TooManyRequests | undefined {
    const wait = anonymous.count(addressOf(request));
    if (wait === undefined) return undefined;
    app.meters.refused.anonymous++;
    return new TooManyRequests(`too many calls without credentials from here: try again in ${wait} s`, wait);
  }

  /** @throws TooManyRequests when too many answers are held back already */
  async function slowDown(request: Request): Promise<void> {
    app.meters.refused.credentials++;
    const wait = failures.count(addressOf(request));
    if (wait === undefined) return;
    if (delayed >= MAX_DELAYED) {
      throw new TooManyRequests(`too many refused credentials from here: try again in ${wait} s`, wait);
    }
    delayed++;
    await sleep(DELAY_MS);
    delayed--;
  }

  return {
    tooMany,
    of(op) {
      if (op.access !== "anyone") {
        return async (request) => {
          await slowDown(request);
          throw refusal(op, request, site);
        };
      }
      // A login that another site sends would leave its own session behind (login CSRF). Signed links are asked for
      // from anywhere, and what is open to other origins says so.
      const ownPagesOnly = op.method !== "GET" && !op.cors && !op.page;
      return async (request, token) => {
        if (!op.uncounted) {
          if (token !== undefined) await slowDown(request);
          const error = tooMany(request);
          if (error) throw error;
        }
        if (ownPagesOnly && isFromElsewhere(request, site)) {
          throw new Forbidden("this call may not come from a page of another site");
        }
      };
    },
  };
}

function refusal(op: Operation, request: Request, site: Site): Unauthorized {
  if (op.cookie === "ignored" && request.headers.has("cookie")) {
    return new Unauthorized("a valid token is needed: a cookie alone starts and changes nothing by GET", {
      hint: "send the token in the header `Authorization: Bearer …`, or call by POST",
    });
  }
  if (!request.headers.has("cookie") || !isFromElsewhere(request, site)) {
    return new Unauthorized("a valid token is needed");
  }
  return new Unauthorized("a valid token is needed: the cookie counts only for pages of this server", {
    hint: "behind a proxy, set base_url (SVC_BASE_URL) to the public address, or SVC_TRUSTED_PROXIES",
  });
}
