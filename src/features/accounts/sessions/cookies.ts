/** Session cookies (RFC 6265 §4.1). */
import type { App } from "../../../platform/app/context.ts";
import { hasForeignUrlToken } from "../../../platform/http/guards/credentials.ts";
import { createDeviceProof } from "./login-throttle.ts";

/** How long clients can see that a login was the account's first, in seconds. */
const FIRST_TIME_S = 15 * 60;
/** How long a browser counts as a known device of the account, in seconds. */
const DEVICE_S = 365 * 86_400;
const DEVICE_COOKIE = "device";

/** A login and the data that its cookies contain. */
export interface Session {
  /** The token's value. */
  token: string;
  /** True for the account's first login. */
  is_first: boolean;
}

/**
 * Returns the cookie `token`; an empty token clears it.
 * @param request the request to answer; none for one whose URL has a token of somebody else
 */
export function createSessionCookies(app: App, request: Request, token: string): string[] {
  if (hasForeignUrlToken(request)) return [];
  const seconds = token === "" ? 0 : app.config.session_s;
  return [formatCookie(app, "token", token, seconds, ["HttpOnly", "Path=/"])];
}

/**
 * Returns the cookies of a login: the session, the device proof, and `first_time` at the account's first login.
 * @param request the request to answer; none for one whose URL has a token
 */
export function createLoginCookies(
  app: App,
  request: Request,
  email: string,
  { token, is_first }: Session,
): string[] {
  const session = createSessionCookies(app, request, token);
  if (session.length === 0) return [];
  return [
    ...session,
    formatCookie(app, DEVICE_COOKIE, createDeviceProof(app, email), DEVICE_S, ["HttpOnly", "Path=/api/auth"]),
    // Read by client scripts, so it is not HttpOnly.
    ...(is_first ? [formatCookie(app, "first_time", "1", FIRST_TIME_S, ["Path=/"])] : []),
  ];
}

/** Returns the device proof of the browser's earlier logins. */
export function readDeviceCookie(request: Request): string | undefined {
  const header = request.headers.get("cookie") ?? "";
  return header
    .split(";")
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(`${DEVICE_COOKIE}=`))
    ?.slice(DEVICE_COOKIE.length + 1);
}

function formatCookie(app: App, name: string, value: string, max_age_s: number, more: string[]): string {
  const { config, urls } = app;
  const expires = max_age_s === 0 ? new Date(0) : new Date(app.clock().getTime() + max_age_s * 1000);
  return [
    `${name}=${value}`,
    ...more,
    "SameSite=Lax",
    `Max-Age=${max_age_s}`,
    // For clients that do not support Max-Age.
    `Expires=${expires.toUTCString()}`,
    ...(urls.base.startsWith("https:") ? ["Secure"] : []),
    ...(config.cookie_domain ? [`Domain=${config.cookie_domain}`] : []),
  ].join("; ");
}
