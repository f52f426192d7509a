/** The cookies of a session (RFC 6265 §4.1). */
import type { App } from "../../../platform/app/context.ts";
import { newDevice } from "./login-throttle.ts";

/** How long a client may tell that a login was the account's first. */
const FIRST_TIME_S = 15 * 60;
/** How long a browser is known to have logged in to an account. */
const DEVICE_S = 365 * 86_400;
const DEVICE = "device";

/** A login, as its cookies tell the browser of it. */
export interface Session {
  /** The token's value. */
  token: string;
  /** The account's first one. */
  is_first: boolean;
}

/** The cookie `token`; an empty token clears it. */
export function sessionCookie(app: App, token: string): string {
  return cookie(app, "token", token, token === "" ? 0 : app.config.session_s, ["HttpOnly", "Path=/"]);
}

/** The cookies of a login: the session, the proof that this browser has logged in, and `first_time` at the first. */
export function loginCookies(app: App, email: string, { token, is_first }: Session): string[] {
  return [
    sessionCookie(app, token),
    cookie(app, DEVICE, newDevice(app, email), DEVICE_S, ["HttpOnly", "Path=/api/auth"]),
    // For scripts to read, so not HttpOnly.
    ...(is_first ? [cookie(app, "first_time", "1", FIRST_TIME_S, ["Path=/"])] : []),
  ];
}

/** What a browser shows of its earlier logins. */
export function deviceOf(request: Request): string | undefined {
  const header = request.headers.get("cookie") ?? "";
  return header
    .split(";")
    .map((pair) => pair.trim())
    .find((pair) => pair.startsWith(`${DEVICE}=`))
    ?.slice(DEVICE.length + 1);
}

function cookie(app: App, name: string, value: string, max_age_s: number, more: string[]): string {
  const { config, urls } = app;
  const expires = max_age_s === 0 ? new Date(0) : new Date(app.clock().getTime() + max_age_s * 1000);
  return [
    `${name}=${value}`,
    ...more,
    "SameSite=Lax",
    `Max-Age=${max_age_s}`,
    // For clients that know no Max-Age.
    `Expires=${expires.toUTCString()}`,
    ...(urls.base.startsWith("https:") ? ["Secure"] : []),
    ...(config.cookie_domain ? [`Domain=${config.cookie_domain}`] : []),
  ].join("; ");
}
