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
  const [scheme, token = ""] = headers.get("authorization")?.split(" ", 2) ?? [];
  if (token === running || !token.startsWith(name!)) return init;
  headers.set("authorization", `${scheme} ${running}`);
  return { ...init, headers };
}
