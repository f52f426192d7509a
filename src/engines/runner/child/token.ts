/**
 * Each job has a token of its own. A client that was made in an earlier job of this process keeps the token of that job,
 * which has ended: in what it sends, the token of the job that runs takes its place. Only this process can do so; to
 * whoever else has come to know an ended token it is worth nothing.
 */

/** What the tokens of one process's jobs begin with. */
const NAME_LENGTH = 32;

let name: string | undefined;
let running = "";
/** Before there is a second token, none can have been kept. */
let hasKept = false;

/** @param token of the job that begins */
export function useToken(token: string | undefined): void {
  if (token === undefined || token === running) return;
  hasKept = name !== undefined;
  name ??= token.slice(0, NAME_LENGTH);
  running = token;
}

/** The running job's token in the place of an earlier one. @param value of a header `authorization` */
function renewedIn(value: string): string {
  const [scheme, token = ""] = value.split(" ", 2);
  return hasKept && token.startsWith(name!) ? `${scheme} ${running}` : value;
}

/**
 * Does the same for requests of `node:http`, which most clients from packages are made of. Loading it takes several
 * milliseconds, so it is asked for only where a script may have done so.
 */
export function renewInNodeHttp(): void {
  const { ClientRequest } = process.getBuiltinModule("node:http");
  const { setHeader } = ClientRequest.prototype;
  ClientRequest.prototype.setHeader = function (header, value) {
    const isToken = header.toLowerCase() === "authorization" && typeof value === "string";
    return setHeader.call(this, header, isToken ? renewedIn(value) : value);
  };
}

const plainFetch = globalThis.fetch;
globalThis.fetch = Object.assign(
  (input: string | URL | Request, init?: RequestInit) =>
    hasKept ? plainFetch(input, renewed(input, init)) : plainFetch(input, init),
  { preconnect: plainFetch.preconnect },
) as typeof fetch;

function renewed(input: string | URL | Request, init: RequestInit | undefined): RequestInit | undefined {
  const given = init?.headers ?? (input instanceof Request ? input.headers : undefined);
  if (given === undefined) return init;
  const headers = new Headers(given);
  const value = headers.get("authorization");
  const next = value === null ? null : renewedIn(value);
  if (next === value) return init;
  headers.set("authorization", next!);
  return { ...init, headers };
}
