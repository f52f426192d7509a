/** The headers that every answer carries, whatever wrote it. */

import { tally } from "../../lib/logging/meters.ts";
import type { App } from "../app/context.ts";
import type { Proxies } from "./door/proxies.ts";
import { type Operation, rootOf } from "./operation.ts";

/** For what no other site has to show or call. A page that says something else of itself is believed. */
const OWN_HEADERS: [string, string][] = [
  ["x-frame-options", "DENY"],
  // An address may hold a token. Forms of our own pages go on telling where they come from, as the check of it needs.
  ["referrer-policy", "same-origin"],
];

/** For pages that bring no policy of their own: nothing is loaded, run or sent elsewhere. */
const PAGE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'";

/** RFC 6797 §6.1: a year. */
const TRANSPORT_POLICY = "max-age=31536000";

/**
 * What is done to an operation's answers before they go out: security headers, the request's id, and counting them.
 * @param op undefined for what no operation answers
 */
export function finisher(app: App, proxies: Proxies, op: Operation | undefined) {
  const statuses = app.meters.answersOf(op?.method ?? "any", op ? rootOf(op) + op.path : "none");
  const isOpen = op?.cors !== undefined && op.cors !== false;
  const byAnyMethod = op?.cors === "any method";
  const mayBeHttps = app.config.tls_cert !== undefined || app.config.trusted_proxies !== undefined;
  return (request: Request, id: string, response: Response): void => {
    const { headers } = response;
    headers.set("x-content-type-options", "nosniff");
    headers.set("x-request-id", id);
    if (app.leaving) headers.set("connection", "close");
    if (isOpen) open(headers);
    else guard(headers);
    if (byAnyMethod) openWide(headers);
    if (mayBeHttps && (proxies.forwarded(request).https ?? request.url.startsWith("https:"))) {
      headers.set("strict-transport-security", TRANSPORT_POLICY);
    }
    tally(statuses, response.status);
  };
}

/** Any page may call, and read the answer. On the way of every webhook: one by one is cheaper than a list of them. */
function open(headers: Headers): void {
  headers.set("access-control-allow-origin", "*");
  headers.set("access-control-allow-methods", "GET, POST, HEAD, OPTIONS");
  headers.set("access-control-allow-headers", "content-type, authorization, idempotency-key");
}

/** Credentials are no part of `*` (Fetch Standard, CORS protocol). */
function openWide(headers: Headers): void {
  headers.set("access-control-allow-methods", "GET, POST, PUT, PATCH, DELETE, HEAD, OPTIONS");
  headers.set("access-control-allow-headers", "*, authorization");
}

function guard(headers: Headers): void {
  for (const [name, value] of OWN_HEADERS) if (!headers.has(name)) headers.set(name, value);
  const type = headers.get("content-type");
  if (type?.startsWith("text/html") && !headers.has("content-security-policy")) {
    headers.set("content-security-policy", PAGE_POLICY);
  }
}
