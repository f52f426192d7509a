import { BadRequest, Unauthorized } from "../../../lib/errors.ts";
import * as z from "../../../lib/zod/z.ts";
import type { Context } from "../../../platform/app/context.ts";
import { readToken } from "../../../platform/http/guards/credentials.ts";
import { type Operation, operation, querySeconds, responds } from "../../../platform/http/operation.ts";
import { revokeToken } from "../../tenancy/tokens/service.ts";
import { createTextResponse } from "./cookie-response.ts";
import { createLoginCookies, createSessionCookies } from "./cookies.ts";
import * as sessions from "./sessions.ts";

export const login = operation({
  name: "login",
  method: "POST",
  path: "/auth/login",
  access: "anyone",
  scope: false,
  summary: "Log in with e-mail and password; the session token is the body and the cookie `token`",
  body: z.object({ email: z.string(), password: z.string() }),
  responds: responds.raw("text/plain", "session token"),
  audit: { operation: "users.login", action_kind: "Create" },
  run: async (ctx, { body }) => {
    const { email, ...session } = await sessions.loginWithPassword(
      ctx,
      body,
      sessions.getLoginOrigin(ctx.request),
    );
    return createTextResponse(session.token, createLoginCookies(ctx.app, ctx.request, email, session));
  },
});

const LOGOUT_AUDIT = { operation: "users.logout", action_kind: "Delete" } as const;

async function revokePresentedToken(ctx: Context): Promise<void> {
  const token = ctx.caller.identity?.token;
  // A job's token is revoked when the job ends.
  if (!token || token.job) return;
  await ctx.write({}, (tx) => revokeToken(ctx.app, tx, token.hash));
}

export const logout = operation({
  name: "logout",
  method: "POST",
  path: "/auth/logout",
  access: "anyone",
  scope: false,
  summary: "Delete the presented token and clear the cookie",
  responds: responds.raw("text/plain", "confirmation"),
  audit: LOGOUT_AUDIT,
  run: async (ctx) => {
    await revokePresentedToken(ctx);
    return createTextResponse("logged out", createSessionCookies(ctx.app, ctx.request, ""));
  },
});

export const logoutByLink = operation({
  name: "logoutByLink",
  method: "GET",
  path: "/auth/logout",
  access: "anyone",
  scope: false,
  cookie: "ignored",
  summary:
    "Log out by GET, with the token in the header or the URL, and redirect to `rd`, an address of this instance",
  query: z.object({ rd: z.string().optional() }),
  responds: responds.raw("text/plain", "confirmation, or 307 to `rd`"),
  audit: LOGOUT_AUDIT,
  run: async (ctx, { query: { rd } }) => {
    const location = rd === undefined ? undefined : parseInstanceUrl(ctx, rd);
    if (!ctx.caller.identity) {
      throw new Unauthorized("a GET request with only a cookie does not log out: use POST /api/auth/logout");
    }
    await revokePresentedToken(ctx);
    const answer = createTextResponse(
      "logged out",
      createSessionCookies(ctx.app, ctx.request, ""),
      location ? 307 : 200,
    );
    if (location) answer.headers.set("location", location);
    return answer;
  },
});

/** Validates a redirect target; other hosts are refused (open redirect). @throws BadRequest */
function parseInstanceUrl(ctx: Context, rd: string): string {
  const base = ctx.app.urls.base || new URL(ctx.request.url).origin;
  const target = URL.canParse(rd, base) ? new URL(rd, base) : undefined;
  if (target?.origin === new URL(base).origin) return target.href;
  throw new BadRequest(`query field \`rd\`: must be an address of this instance, such as /user/login`);
}

export const refreshToken = operation({
  name: "refreshUserToken",
  method: "GET",
  path: "/users/refresh_token",
  access: "user",
  scope: false,
  summary:
    "Start a new session, returned as the body and the cookie `token`; the current one stays valid until it expires",
  query: z.object({ if_expiring_in_less_than_s: querySeconds.optional() }),
  responds: responds.raw("text/plain", "the token that is valid from now on"),
  audit: { operation: "users.token.refresh", action_kind: "Create" },
  run: async (ctx, { query }) => {
    const token = await sessions.refreshSession(ctx, query.if_expiring_in_less_than_s);
    if (token !== undefined)
      return createTextResponse(token, createSessionCookies(ctx.app, ctx.request, token));
    const { request } = ctx;
    return createTextResponse(readToken(request, new URL(request.url).search) ?? "", []);
  },
});

export const sessionOperations: Operation[] = [login, logout, logoutByLink, refreshToken];
