/**
 * Requests that the server makes to targets named by users, bounded in time, size and redirects. They return whole
 * responses.
 */
import { pipeline, Readable } from "node:stream";
import { constants, createUnzip } from "node:zlib";
import { getUrlHost } from "../../lib/network.ts";
import { type OpenRequest, OutgoingError, openRequest, withHostErrors } from "./connect.ts";

export interface OutgoingRequest extends OpenRequest {
  /** Limit for the whole exchange, redirects included. */
  timeout_ms: number;
  /** Limit of the decoded response body. */
  max_bytes: number;
  /** Handling of a longer body; default `cut`. */
  oversize?: "cut" | "refused";
  /** Most redirects followed; each target is checked like the first. */
  max_redirects: number;
}

export interface OutgoingAnswer {
  status: number;
  headers: Headers;
  body: Buffer;
}

/** Sends a request. @throws OutgoingError if the target is refused, unreachable, or does not respond in time */
export async function sendRequest(asked: OutgoingRequest): Promise<OutgoingAnswer> {
  const signal = AbortSignal.timeout(asked.timeout_ms);
  let request = asked;
  for (let redirects = 0; ; redirects++) {
    const answer = await sendOnce(request, signal);
    const location = answer.headers.get("location");
    if (!followsRedirect(request, answer) || location === null || redirects >= asked.max_redirects)
      return answer;
    request = toRedirectedRequest(request, location);
  }
}

/**
 * Whether a redirect is followed (RFC 9110 §15.4). Only 307 and 308 repeat the request; the others would turn a POST
 * into a GET without its body.
 */
function followsRedirect({ method }: OutgoingRequest, { status }: OutgoingAnswer): boolean {
  if (status === 307 || status === 308) return true;
  return method === "GET" && (status === 301 || status === 302 || status === 303);
}

/** Returns the request for the redirect's target; credentials are sent only to the first origin. */
function toRedirectedRequest(request: OutgoingRequest, location: string): OutgoingRequest {
  const from = new URL(request.url);
  const to = URL.parse(location, from.href);
  if (!to) throw new OutgoingError(`${from.host} redirects to an invalid URL`);
  const isSame = to.origin === from.origin;
  const headers = Object.entries(request.headers ?? {}).filter(
    ([name]) => isSame || !["authorization", "cookie"].includes(name.toLowerCase()),
  );
  return { ...request, url: to.href, headers: Object.fromEntries(headers) };
}

function sendOnce(request: OutgoingRequest, signal: AbortSignal): Promise<OutgoingAnswer> {
  const host = getUrlHost(new URL(request.url));
  const { timeout_ms } = request;
  const headers = { "accept-encoding": "gzip", ...request.headers };
  return withHostErrors(host, signal, timeout_ms, async () => {
    const { status, headers: given, body } = await openRequest({ ...request, headers }, signal, timeout_ms);
    const isZipped = /^(x-gzip|gzip|deflate)$/i.test(given.get("content-encoding") ?? "");
    return readAnswer({ status, headers: given, body: body && isZipped ? unzip(body) : body }, request, host);
  });
}

/** Decompresses a body as it is read: no more of it is in memory than is read. What is cut off ends where it does. */
async function* unzip(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const unzipped = createUnzip({ finishFlush: constants.Z_SYNC_FLUSH });
  pipeline(Readable.from(body), unzipped, () => {});
  yield* unzipped;
}

interface EncodedAnswer {
  status: number;
  headers: Headers;
  body: AsyncIterable<Uint8Array> | null;
}

/**
 * Reads a response to its end or to the size limit.
 * @throws OutgoingError above the limit, if `oversize` is `refused`
 */
export async function readAnswer(
  { status, headers, body }: EncodedAnswer,
  { max_bytes, oversize }: Pick<OutgoingRequest, "max_bytes" | "oversize">,
  host: string,
): Promise<OutgoingAnswer> {
  const pieces: Uint8Array[] = [];
  let left = max_bytes;
  for await (const piece of body ?? []) {
    pieces.push(piece.subarray(0, Math.max(left, 0)));
    left -= piece.length;
    // Leaving the loop closes the connection.
    if (left < 0 && oversize === "refused")
      throw new OutgoingError(`${host} sent more than ${max_bytes} bytes`);
    if (left < 0 || (left === 0 && oversize !== "refused")) break;
  }
  return { status, headers, body: Buffer.concat(pieces) };
}
