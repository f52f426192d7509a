/** Reads credentials from a request, in their order of precedence. The features resolve the token to an identity. */
import type { CookieRule } from "../operation.ts";
import type { TrustedProxies } from "./proxies.ts";

/** Properties of this server that decide whether a request is same-origin. */
export interface Site {
  proxies: TrustedProxies;
  /** Origin of the configured public address, if any. */
  readonly origin: string | undefined;
}

/** Headers with credentials: never passed to scripts and never stored. */
export const CREDENTIAL_HEADERS: ReadonlySet<string> = new Set([
  "authorization",
  "cookie",
  "proxy-authorization",
]);

/** Query parameter that carries a token. */
export const TOKEN_PARAMETER = "token";

/**
 * Reads the token: `Authorization: Bearer X` (RFC 6750 §2.1), then the cookie `token`, then the query parameter
 * `token`.
 * @param search the query string with its `?`, or ""
 * @param site enables the cross-site check of the cookie; omit it if that is already done
 */
export function readToken(
  request: Request,
  search: string,
  site?: Site,
  rule: CookieRule = "counts",
): string | undefined {
  const bearer = readBearerToken(request);
  if (bearer !== undefined || rule === "ignored") return bearer ?? readQueryToken(search);
  const asked = rule === "last" ? readQueryToken(search) : undefined;
  return asked ?? readCookieToken(request, site) ?? readQueryToken(search);
}

/** Whether a request carries a token that a browser would not add by itself. */
export function hasExplicitToken(request: Request): boolean {
  return readBearerToken(request) !== undefined || readQueryToken(new URL(request.url).search) !== undefined;
}

/**
 * Whether a request is authorized by a token in its URL that the browser, if it is one, does not have itself. Any site
 * can send a browser there, so the response must not replace or end the browser's session (login CSRF).
 */
export function hasForeignUrlToken(request: Request): boolean {
  if (readBearerToken(request) !== undefined) return false;
  const given = readQueryToken(new URL(request.url).search);
  return given !== undefined && given !== readCookieToken(request, undefined);
}

function readBearerToken({ headers }: Request): string | undefined {
  const authorization = headers.get("authorization");
  if (authorization === null || !/^bearer /i.test(authorization)) return undefined;
  return authorization.slice(7).trim();
}

function readQueryToken(search: string): string | undefined {
  if (!search.includes(`${TOKEN_PARAMETER}=`)) return undefined;
  return new URLSearchParams(search).get(TOKEN_PARAMETER) ?? undefined;
}

function readCookieToken(request: Request, site: Site | undefined): string | undefined {
  const cookie = request.headers.get("cookie");
  if (cookie === null) return undefined;
  const value = readCookie(cookie, "token");
  return value && !(site && isCrossSite(request, site)) ? value : undefined;
}

/**
 * Whether a request comes from a page of another site. Browsers send cookies along with cross-site links
 * (SameSite=Lax), and some GET calls start jobs, so the cookie must not count there (W3C Fetch Metadata §2.1).
 *
 * Browsers without these headers, and all on plain http, send the page's origin with changes (RFC 6454 §7). Non-browser
 * clients send neither: existing command lines send the cookie alone.
 */
export function isCrossSite(request: Request, site: Site): boolean {
  const { headers } = request;
  const fetchSite = headers.get("sec-fetch-site");
  if (fetchSite !== null) return fetchSite !== "same-origin" && fetchSite !== "none";
  if (request.method === "GET" || request.method === "HEAD") return false;
  const origin = headers.get("origin");
  return origin !== null && !isOwnOrigin(origin, request, site);
}

function isOwnOrigin(origin: string, request: Request, { proxies, origin: own }: Site): boolean {
  if (!URL.canParse(origin)) return false;
  if (origin === own) return true;
  const { host, https = request.url.startsWith("https:") } = proxies.readForwarded(request);
  const page = new URL(origin);
  // An untrusted proxy may have terminated TLS, so an https page matches an http request. A http page never belongs to
  // an https server.
  return page.host === (host ?? request.headers.get("host")) && (page.protocol === "https:" || !https);
}

function readCookie(header: string, name: string): string | undefined {
  for (const pair of header.split(";")) {
    const at = pair.indexOf("=");
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}
