/**
 * Headers of an answer that a script may not set. An answer comes from the address of the whole service: what a browser
 * keeps for an address, and what a proxy in front of it obeys, is the service's to say.
 */
import { Internal } from "../../../lib/errors.ts";

/** Kept by browsers for the whole origin, or obeyed by proxies in front of it. */
const OF_SERVICE = new Set([
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

const PREFIXES_OF_SERVICE = ["proxy-", "sec-", "svc-", "x-accel-"];

/** Of one connection only (RFC 9110 §7.6.1), and the length, which is counted here: left out, as any proxy does. */
const OF_CONNECTION = new Set([
  "connection",
  "content-length",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** @throws Internal for a header that a script may not set, or that is none */
export function addHeaders(answer: Headers, headers: Record<string, string>): void {
  for (const [name, value] of Object.entries(headers)) setHeader(answer, name, value);
}

/** @throws as `addHeaders` */
export function setHeader(answer: Headers, given: string, value: string): void {
  const name = given.trim().toLowerCase();
  if (OF_CONNECTION.has(name)) return;
  if (OF_SERVICE.has(name) || PREFIXES_OF_SERVICE.some((prefix) => name.startsWith(prefix))) {
    throw new Internal(`wm_headers: a script may not set ${given}, which speaks for the whole service`);
  }
  try {
    answer.set(given, value);
  } catch {
    throw new Internal(
      `wm_headers: ${JSON.stringify(given)} with this value is not a valid header (RFC 9110 §5)`,
    );
  }
}
