/** API client, typed by the server's OpenAPI description. */
import { toServerPath } from "./base.ts";
import { checkSession, markReachable, markSessionEnded, markUnreachable } from "./connection.ts";
import { ConnectionLost, readApiError } from "./errors.ts";
import type { Operations } from "./interface.d.ts";
import { parseJson, writeJson } from "./json.ts";

export type OperationName = keyof Operations;
export type Answer<N extends OperationName> = Operations[N]["answer"];
export type Input<N extends OperationName> = Operations[N]["input"];

interface Loose {
  query?: Record<string, unknown>;
  body?: unknown;
  [parameter: string]: unknown;
}

/** Returns the URL of a GET operation, for links and downloads. */
export function getOperationUrl<N extends OperationName>(operation: N, input: Input<N>): string {
  const { query = {}, body: _, ...parameters } = input as Loose;
  const path = operation
    .slice(operation.indexOf(" ") + 1)
    .replace(/\{(\w+)\}/g, (_all, name: string) =>
      String(parameters[name]).split("/").map(encodeURIComponent).join("/"),
    );
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value !== undefined && value !== null && value !== "") search.set(name, String(value));
  }
  return toServerPath(`api${path}${search.size > 0 ? `?${search}` : ""}`);
}

/**
 * Sends a request and returns the raw response. @throws ApiError, ConnectionLost
 * @param accepted a status that is an answer too
 */
export async function sendRequest<N extends OperationName>(
  operation: N,
  input: Input<N>,
  signal?: AbortSignal,
  accepted?: number,
): Promise<Response> {
  const { body } = input as Loose;
  const headers: Record<string, string> = {
    accept: "application/json, application/problem+json, text/plain;q=0.9, */*;q=0.8",
  };
  if (body !== undefined) headers["content-type"] = "application/json";
  let response: Response;
  try {
    response = await fetch(getOperationUrl(operation, input), {
      method: operation.slice(0, operation.indexOf(" ")),
      headers,
      ...(body === undefined ? {} : { body: writeJson(body) }),
      ...(signal ? { signal } : {}),
    });
  } catch (cause) {
    if (signal?.aborted) throw cause;
    markUnreachable();
    throw new ConnectionLost(cause);
  }
  markReachable();
  if (response.ok || response.status === accepted) return response;
  if (response.status === 401) noteRefused(operation);
  throw await readApiError(response);
}

/** Operations for which a 401 does not mean that the session has ended. */
const PUBLIC: ReadonlySet<OperationName> = new Set<OperationName>([
  "POST /auth/login",
  "POST /setup/{token}",
]);

/** Distinguishes an ended session from an operation that rejects this user, such as in another user's workspace. */
function noteRefused(operation: OperationName): void {
  if (operation === "GET /users/whoami") markSessionEnded(true);
  else if (!PUBLIC.has(operation)) void checkSession();
}

/** Calls an operation and returns the parsed body. @throws ApiError, ConnectionLost */
export async function callOperation<N extends OperationName>(
  operation: N,
  input: Input<N>,
  signal?: AbortSignal,
): Promise<Answer<N>> {
  const response = await sendRequest(operation, input, signal);
  const text = await response.text();
  const isJson = response.headers.get("content-type")?.startsWith("application/json");
  return (isJson ? parseJson(text) : text) as Answer<N>;
}
