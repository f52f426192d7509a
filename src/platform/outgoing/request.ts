/**
 * Requests that the server itself makes to targets people name, with whole answers: bounded in time, in size and in
 * redirects.
 */
import { hostOf } from "../../lib/network.ts";
import { explaining, type OpenRequest, OutgoingError, openRequest } from "./connect.ts";

export interface OutgoingRequest extends OpenRequest {
  /** From the beginning to the last byte of the answer, redirects included. */
  timeout_ms: number;
  /** Of the answer's body, as it arrives decoded. */
  max_bytes: number;
  /** What becomes of a longer body; it is cut off where nothing is said. */
  longer?: "cut" | "refused";
  /** Redirects that are followed; each is checked like the first address. */
  max_redirects: number;
}

export interface OutgoingAnswer {
  status: number;
  headers: Headers;
  body: Buffer;
}

/** @throws OutgoingError when the target is refused, cannot be reached, or does not answer in time */
export async function sendRequest(asked: OutgoingRequest): Promise<OutgoingAnswer> {
  const signal = AbortSignal.timeout(asked.timeout_ms);
  let request = asked;
  for (let redirects = 0; ; redirects++) {
    const answer = await ask(request, signal);
    const location = answer.headers.get("location");
    if (!isFollowed(request, answer) || location === null || redirects >= asked.max_redirects) return answer;
    request = redirected(request, location);
  }
}

/** RFC 9110 §15.4: only 307 and 308 send again what was sent; the others would turn it into a GET, and lose it. */
function isFollowed({ method }: OutgoingRequest, { status }: OutgoingAnswer): boolean {
  if (status === 307 || status === 308) return true;
  return method === "GET" && (status === 301 || status === 302 || status === 303);
}

/** Credentials stay with the first origin. */
function redirected(request: OutgoingRequest, location: string): OutgoingRequest {
  const from = new URL(request.url);
  const to = URL.parse(location, from.href);
  if (!to) throw new OutgoingError(`${from.host} redirects to what is no address`);
  const isSame = to.origin === from.origin;
  const headers = Object.entries(request.headers ?? {}).filter(
    ([name]) => isSame || !["authorization", "cookie"].includes(name.toLowerCase()),
  );
  return { ...request, url: to.href, headers: Object.fromEntries(headers) };
}

function ask(request: OutgoingRequest, signal: AbortSignal): Promise<OutgoingAnswer> {
  const host = hostOf(new URL(request.url));
  const { timeout_ms } = request;
  return explaining(host, signal, timeout_ms, async () =>
    readAnswer(await openRequest(request, signal, timeout_ms), request, host),
  );
}

/** Reads an answer to its end, or to as many bytes as may come. @throws OutgoingError for more, where that is refused */
export async function readAnswer(
  { status, headers, body }: Response,
  { max_bytes, longer }: Pick<OutgoingRequest, "max_bytes" | "longer">,
  host: string,
): Promise<OutgoingAnswer> {
  const pieces: Uint8Array[] = [];
  let left = max_bytes;
  for await (const piece of body ?? []) {
    pieces.push(piece.subarray(0, Math.max(left, 0)));
    left -= piece.length;
    // Leaving the loop ends the connection: nobody reads the rest.
    if (left < 0 && longer === "refused")
      throw new OutgoingError(`${host} sends more than ${max_bytes} bytes`);
    if (left < 0 || (left === 0 && longer !== "refused")) break;
  }
  return { status, headers, body: Buffer.concat(pieces) };
}
