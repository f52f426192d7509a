/** Where a token can stand in a request, in the order of precedence. Whose it is, is asked of the features. */

/**
 * `Authorization: Bearer X` (RFC 6750 §2.1), then the cookie `token`, then the query parameter `token`.
 * @param search the query string with its `?`, or ""
 */
export function readToken(headers: Headers, search: string): string | undefined {
  const authorization = headers.get("authorization");
  if (authorization !== null && /^bearer /i.test(authorization)) return authorization.slice(7).trim();
  const cookie = headers.get("cookie");
  if (cookie !== null && !isFromElsewhere(headers)) {
    const value = cookieValue(cookie, "token");
    if (value) return value;
  }
  if (search.includes("token=")) return new URLSearchParams(search).get("token") ?? undefined;
  return undefined;
}

/**
 * A page of another site sends the browser's cookie along with a link (SameSite=Lax), and some calls by GET start jobs:
 * there the cookie does not speak for its owner (W3C Fetch Metadata §2.1). Clients that are no browser say nothing.
 */
function isFromElsewhere(headers: Headers): boolean {
  const site = headers.get("sec-fetch-site");
  return site === "cross-site" || site === "same-site";
}

function cookieValue(header: string, name: string): string | undefined {
  for (const pair of header.split(";")) {
    const at = pair.indexOf("=");
    if (at > 0 && pair.slice(0, at).trim() === name) return pair.slice(at + 1).trim();
  }
  return undefined;
}
