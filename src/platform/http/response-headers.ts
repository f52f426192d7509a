/** Headers of every response, whichever code created it. */

import { incrementCount } from "../../lib/logging/meters.ts";
import type { App } from "../app/context.ts";
import type { TrustedProxies } from "./guards/proxies.ts";
import { getBasePath, type Operation } from "./operation.ts";

/** Prevents other sites from framing. A page that sets these headers itself takes precedence. */
const SAME_SITE_HEADERS: [string, string][] = [
  ["x-frame-options", "DENY"],
  // A URL may contain a token. Own forms still send their origin, which the cross-site check needs.
  ["referrer-policy", "same-origin"],
];

/** Policy of pages without their own: nothing is loaded, run or sent elsewhere. */
const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** One year (RFC 6797 §6.1). */
const HSTS_POLICY = "max-age=31536000";

/**
 * Creates the function that completes an operation's responses: security headers, request id, counting.
 * @param op undefined for requests without an operation
 */
export function createResponseFinisher(app: App, proxies: TrustedProxies, op: Operation | undefined) {
  const statuses = app.meters.responsesOf(op?.method ?? "any", op ? getBasePath(op) + op.path : "none");
  const isOpen = op?.cors !== undefined && op.cors !== false;
  const byAnyMethod = op?.cors === "any method";
  // Answers to other methods are not cached (RFC 9111 §4), and scripts of routes decide about theirs.
  const isPrivate = op?.method === "GET" && !byAnyMethod;
  const mayBeHttps = app.config.tls_cert !== undefined || app.config.trusted_proxies !== undefined;
  return (request: Request, id: string, response: Response): void => {
    const { headers } = response;
    headers.set("x-content-type-options", "nosniff");
    headers.set("x-request-id", id);
    if (app.isStopping) headers.set("connection", "close");
    if (isOpen) headers.set("access-control-allow-origin", "*");
    else protectResponse(headers);
    if (isOpen && request.method === "OPTIONS") allowCalls(headers, byAnyMethod);
    // Secrets and results must stay neither on the disk of a browser nor in a shared cache.
    if (isPrivate && !headers.has("cache-control")) headers.set("cache-control", "no-store");
    if (mayBeHttps && (proxies.readForwarded(request).https ?? request.url.startsWith("https:"))) {
      headers.set("strict-transport-security", HSTS_POLICY);
    }
    incrementCount(statuses, response.status);
  };
}

/**
 * Says in the answer to a preflight request what any page may send (Fetch Standard, CORS protocol); other responses
 * need not repeat it. `*` does not include Authorization.
 */
function allowCalls(headers: Headers, byAnyMethod: boolean): void {
  const more = byAnyMethod ? "PUT, PATCH, DELETE, " : "";
  headers.set("access-control-allow-methods", `GET, POST, ${more}HEAD, OPTIONS`);
  const names = byAnyMethod ? "*, authorization" : "content-type, authorization, idempotency-key";
  headers.set("access-control-allow-headers", names);
}

function protectResponse(headers: Headers): void {
  for (const [name, value] of SAME_SITE_HEADERS) if (!headers.has(name)) headers.set(name, value);
  const type = headers.get("content-type");
  if (type?.startsWith("text/html") && !headers.has("content-security-policy")) {
    headers.set("content-security-policy", PAGE_POLICY);
  }
}
