/**
 * Response headers that a script may not set. All responses come from the service's origin, so headers that browsers
 * store per origin, or that a proxy in front obeys, are reserved for the service.
 */
import { Internal } from "../../../lib/errors.ts";

/** Stored by browsers for the whole origin, or obeyed by proxies in front of it. */
const SERVICE_HEADERS = new Set([
  "accept-ch",
  "access-control-allow-credentials",
  "access-control-allow-private-network",
  "alt-svc",
  "clear-site-data",
  "critical-ch",
  "expect-ct",
  "expect-staple",
  "nel",
  "origin-agent-cluster",
  "public-key-pins",
  "public-key-pins-report-only",
  "report-to",
  "reporting-endpoints",
  "service-worker-allowed",
  "set-cookie",
  "set-cookie2",
  "set-login",
  "speculation-rules",
  "strict-transport-security",
  "use-as-dictionary",
  "x-lighttpd-send-file",
  "x-permitted-cross-domain-policies",
  "x-sendfile",
]);

const SERVICE_HEADER_PREFIXES = ["proxy-", "sec-", "svc-", "x-accel-"];

/** Headers of one connection (RFC 9110 §7.6.1) and the length, which is computed here: dropped, as any proxy does. */
const CONNECTION_HEADERS = new Set([
  "connection",
  "content-length",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Adds the headers that a script's result sets. @throws Internal for a header that is reserved or invalid */
export function addScriptHeaders(answer: Headers, headers: Record<string, string>): void {
  for (const [name, value] of Object.entries(headers)) setScriptHeader(answer, name, value);
}

/** Sets one header on behalf of a script. @throws as `addScriptHeaders` */
export function setScriptHeader(answer: Headers, given: string, value: string): void {
  const name = given.trim().toLowerCase();
  if (CONNECTION_HEADERS.has(name)) return;
  if (SERVICE_HEADERS.has(name) || SERVICE_HEADER_PREFIXES.some((prefix) => name.startsWith(prefix))) {
    throw new Internal(`wm_headers: a script may not set ${given}, which affects the whole service`);
  }
  try {
    answer.set(given, value);
  } catch {
    throw new Internal(
      `wm_headers: ${JSON.stringify(given)} with this value is not a valid header (RFC 9110 §5)`,
    );
  }
}
