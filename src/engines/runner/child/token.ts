/**
 * Replaces outdated job tokens in requests. Each job has its own token, but a client created in an earlier job of this
 * process keeps that job's expired token. Outside this process an expired token is useless.
 */

/** Length of the prefix that all tokens of one process share. */
const TOKEN_PREFIX_LENGTH = 32;

let tokenPrefix: string | undefined;
let currentToken = "";
/** An old token can only exist once there has been a second one. */
let mayHoldOldToken = false;

/** Sets the current token. @param token of the job that starts */
export function setToken(token: string | undefined): void {
  if (token === undefined || token === currentToken) return;
  mayHoldOldToken = tokenPrefix !== undefined;
  tokenPrefix ??= token.slice(0, TOKEN_PREFIX_LENGTH);
  currentToken = token;
}

/** Replaces an earlier job's token by the current one. @param value of an `authorization` header */
function replaceToken(value: string): string {
  const [scheme, token = ""] = value.split(" ", 2);
  return mayHoldOldToken && token.startsWith(tokenPrefix!) ? `${scheme} ${currentToken}` : value;
}

/**
 * Replaces outdated tokens in requests of `node:http`, which most client packages use. Loading it takes several
 * milliseconds, so this runs only if the script may have loaded it.
 */
export function patchNodeHttp(): void {
  const { ClientRequest } = process.getBuiltinModule("node:http");
  const { setHeader } = ClientRequest.prototype;
  ClientRequest.prototype.setHeader = function (header, value) {
    const isToken = header.toLowerCase() === "authorization" && typeof value === "string";
    return setHeader.call(this, header, isToken ? replaceToken(value) : value);
  };
}

const plainFetch = globalThis.fetch;
globalThis.fetch = Object.assign(
  (input: string | URL | Request, init?: RequestInit) =>
    mayHoldOldToken ? plainFetch(input, withCurrentToken(input, init)) : plainFetch(input, init),
  { preconnect: plainFetch.preconnect },
) as typeof fetch;

function withCurrentToken(
  input: string | URL | Request,
  init: RequestInit | undefined,
): RequestInit | undefined {
  const given = init?.headers ?? (input instanceof Request ? input.headers : undefined);
  if (given === undefined) return init;
  const headers = new Headers(given);
  const value = headers.get("authorization");
  const next = value === null ? null : replaceToken(value);
  if (next === value) return init;
  headers.set("authorization", next!);
  return { ...init, headers };
}
