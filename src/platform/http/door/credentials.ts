/** Where a token can stand in a request, in the order of precedence. Whose it is, is asked of the features. */
import type { CookieRule } from "../operation.ts";
import type { Proxies } from "./proxies.ts";

/** What decides whether a request comes from a page of this server. */
export interface Site {
  proxies: Proxies;
  /** The origin of the public address as it is set now, where one is. */
  readonly origin: string | undefined;
}

/** Headers that speak for the caller: no script is told of them, and nothing of them is stored. */
export const CREDENTIAL_HEADERS: ReadonlySet<string> = new Set([
  "authorization",
  "cookie",
  "proxy-authorization",
]);

/** The query parameter that speaks for the caller. */
export const TOKEN_PARAMETER = "token";

/**
 * `Authorization: Bearer X` (RFC 6750 §2.1), then the cookie `token`, then the query parameter `token`.
 * @param search the query string with its `?`, or ""
 * @param site decides whether the cookie speaks for its owner; left out, that has been decided already
 */
export function readToken(
  request: Request,
  search: string,
  site?: Site,
  rule: CookieRule = "counts",
): string | undefined {
  const bearer = bearerOf(request);
  if (bearer !== undefined || rule === "ignored") return bearer ?? queryToken(search);
  const asked = rule === "last" ? queryToken(search) : undefined;
  return asked ?? cookieToken(request, site) ?? queryToken(search);
}

/** Whether a request brings a token that no browser adds by itself. */
export function bringsToken(request: Request): boolean {
  return bearerOf(request) !== undefined || queryToken(new URL(request.url).search) !== undefined;
}

function bearerOf({ headers }: Request): string | undefined {
  const authorization = headers.get("authorization");
  if (authorization === null || !/^bearer /i.test(authorization)) return undefined;
  return authorization.slice(7).trim();
}

function queryToken(search: string): string | undefined {
  if (!search.includes(`${TOKEN_PARAMETER}=`)) return undefined;
  return new URLSearchParams(search).get(TOKEN_PARAMETER) ?? undefined;
}

function cookieToken(request: Request, site: Site | undefined): string | undefined {
  const cookie = request.headers.get("cookie");
  if (cookie === null) return undefined;
  const value = cookieValue(cookie, "token");
  return value && !(site && isFromElsewhere(request, site)) ? value : undefined;
}

/**
 * A page of another site sends the browser's cookie along with a link (SameSite=Lax), and some calls by GET start jobs:
 * there the cookie does not speak for its owner (W3C Fetch Metadata §2.1). Browsers without those headers (and all, on
 * plain http) name the page's origin when they change something (RFC 6454 §7). Clients that are no browser say nothing
 * of either: existing command lines send the cookie alone.
 */
export function isFromElsewhere(request: Request, site: Site): boolean {
  const { headers } = request;
  const fetchSite = headers.get("sec-fetch-site");
  if (fetchSite !== null) return fetchSite !== "same-origin" && fetchSite !== "none";
  if (request.method === "GET" || request.method === "HEAD") return false;
  const origin = headers.get("origin");
  return origin !== null && !isOwn(origin, request, site);
}

function isOwn(origin: string, request: Request, { proxies, origin: own }: Site): boolean {
  if (!URL.canParse(origin)) return false;
  if (origin === own) return true;
  const { host, https = request.url.startsWith("https:") } = proxies.forwarded(request);
  const page = new URL(origin);
  // A proxy that is not trusted may have taken https off; a page that came without it is never one of an https server.
  return page.host === (host ?? request.headers.get("host")) && (page.protocol === "https:" || !https);
}

function cookieValue(header: string, name: string): string | undefined {
  for (const pair of header.split(";")) {
    const at = pair.indexOf("=");
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}
