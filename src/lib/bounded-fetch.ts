/** Calls to other servers that cannot hang, flood the memory or lead astray. */

interface Bounds {
  /** Of the whole call: connecting, redirects and body. */
  timeout_ms: number;
  /** Of the body, as it arrives decoded. */
  max_bytes: number;
  /** Only a GET follows any: what is sent by POST is meant for one address. */
  max_redirects: number;
}

/** The other server is down, too slow, or sends what nobody should take. The message names the host, never the query. */
export class FetchFailed extends Error {
  override readonly name = "FetchFailed";
}

const REDIRECTS = new Set([301, 302, 303, 307, 308]);
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/**
 * A fetch whose answer has been read to its end. Plain http is spoken with this machine alone.
 * @throws FetchFailed
 */
export async function boundedFetch(url: string, init: RequestInit, bounds: Bounds): Promise<Response> {
  const signal = AbortSignal.timeout(bounds.timeout_ms);
  const headers = new Headers(init.headers);
  const isGet = (init.method ?? "GET") === "GET";
  let target = checkTarget(url);
  for (let redirects = 0; ; redirects++) {
    const response = await send(target, { ...init, headers, redirect: "manual", signal }, bounds);
    const location = response.headers.get("location");
    if (!REDIRECTS.has(response.status) || location === null || !isGet) return response;
    if (redirects >= bounds.max_redirects) {
      throw new FetchFailed(`${target.host} redirects more than ${bounds.max_redirects} times`);
    }
    const next = checkTarget(location, target);
    if (next.origin !== target.origin) headers.delete("authorization");
    target = next;
  }
}

function checkTarget(url: string, base?: URL): URL {
  if (!URL.canParse(url, base?.href)) throw new FetchFailed(`"${url.slice(0, 200)}" is no URL`);
  const target = new URL(url, base?.href);
  const isPlain = target.protocol === "http:";
  if (target.protocol === "https:" || (isPlain && LOOPBACK.test(target.hostname))) return target;
  throw new FetchFailed(`${target.origin} must be called by https`);
}

async function send(target: URL, init: RequestInit, bounds: Bounds): Promise<Response> {
  try {
    const response = await fetch(target, init);
    const body = await readBody(response, target, bounds.max_bytes);
    return new Response(body, { status: response.status, headers: response.headers });
  } catch (cause) {
    if (cause instanceof FetchFailed) throw cause;
    if ((cause as Error).name === "TimeoutError") {
      throw new FetchFailed(`${target.host} has not answered within ${bounds.timeout_ms / 1000} s`, {
        cause,
      });
    }
    throw new FetchFailed(`${target.host} cannot be reached`, { cause });
  }
}

async function readBody(
  response: Response,
  target: URL,
  max_bytes: number,
): Promise<Buffer<ArrayBuffer> | null> {
  if (!response.body) return null;
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of response.body as unknown as AsyncIterable<Uint8Array>) {
    size += piece.byteLength;
    if (size > max_bytes) throw new FetchFailed(`${target.host} sends more than ${max_bytes} bytes`);
    pieces.push(piece);
  }
  // A response with such a status may have no body, not even an empty one.
  return [204, 205, 304].includes(response.status) ? null : Buffer.concat(pieces);
}
