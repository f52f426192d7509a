/** Converts results and errors to HTTP responses. */
import * as errors from "../../lib/errors.ts";
import { type ResponseDeclaration, ResponseWithHeaders } from "./operation.ts";

/** Status of each error class, and the text prefix that existing clients parse. */
const STATUS_OF_ERRORS: [
  kind:
    | typeof errors.SvcError
    | typeof errors.TooManyRequests
    | typeof errors.MethodNotAllowed
    | typeof errors.Unavailable,
  status: number,
  prefix: string,
][] = [
  [errors.BadRequest, 400, "Bad request"],
  [errors.InvalidInput, 400, "Bad request"],
  [errors.Unauthorized, 401, "Unauthorized"],
  [errors.Forbidden, 403, "Permission denied"],
  [errors.NotFound, 404, "Not found"],
  [errors.MethodNotAllowed, 405, "Method not allowed"],
  [errors.Conflict, 409, "Conflict"],
  [errors.PayloadTooLarge, 413, "Payload too large"],
  [errors.IdempotencyKeyReused, 422, "Unprocessable"],
  [errors.TooManyRequests, 429, "Too many requests"],
  [errors.CallerGone, 499, "Client closed request"],
  [errors.Internal, 500, "Internal"],
  [errors.WaitTimeout, 500, "Internal"],
  [errors.Unavailable, 503, "Unavailable"],
  [errors.StorageFull, 507, "Storage full"],
];

export interface ErrorShape {
  name: string;
  status: number;
  message: string;
  hint: string | undefined;
}

/**
 * Returns what may be disclosed of an error. Subclasses take the status of their listed base class. Any error that is
 * not an SvcError is internal and hides its message.
 */
export function describeError(error: unknown): ErrorShape {
  if (!(error instanceof errors.SvcError)) {
    return {
      name: "Internal",
      status: 500,
      message: "Internal: the server failed; its log says more",
      hint: undefined,
    };
  }
  const [, status, prefix] = STATUS_OF_ERRORS.find(([kind]) => error instanceof kind) ?? [
    undefined,
    500,
    "Internal",
  ];
  return { name: error.name, status, message: `${prefix}: ${error.message}`, hint: error.hint };
}

/**
 * Creates an error response: text/plain for existing clients, RFC 9457 for those that accept application/problem+json.
 */
export function createErrorResponse(error: unknown, accept: string | null): Response {
  const shape = describeError(error);
  const headers: Record<string, string> = { "svc-error": shape.name };
  if (error instanceof errors.TooManyRequests) headers["retry-after"] = String(error.retry_after_s);
  if (error instanceof errors.MethodNotAllowed) headers.allow = error.allow;
  if (error instanceof errors.Unavailable) {
    headers["retry-after"] = "1";
    if (error.job_id !== undefined) headers["svc-job-id"] = error.job_id;
  }
  if (shape.status === 401) headers["www-authenticate"] = "Bearer";
  if (accept?.includes("application/problem+json")) {
    headers["content-type"] = "application/problem+json";
    const problem = {
      type: "about:blank",
      title: shape.name,
      status: shape.status,
      detail: shape.message,
      hint: shape.hint,
    };
    return new Response(JSON.stringify(problem), { status: shape.status, headers });
  }
  headers["content-type"] = "text/plain; charset=utf-8";
  const text = shape.hint ? `${shape.message}\n${shape.hint}` : shape.message;
  return new Response(text, { status: shape.status, headers });
}

const TEXT_HEADERS = { "content-type": "text/plain; charset=utf-8" };
const JSON_HEADERS = { "content-type": "application/json" };

export function createSuccessResponse(declared: ResponseDeclaration<unknown>, value: unknown): Response {
  if (value instanceof ResponseWithHeaders) {
    const response = createSuccessResponse(declared, value.value);
    for (const name in value.headers) response.headers.set(name, value.headers[name]!);
    return response;
  }
  switch (declared.kind) {
    case "raw":
      return value as Response;
    case "text":
      return new Response(String(value), { status: declared.status, headers: TEXT_HEADERS });
    case "json":
      return new Response(JSON.stringify(value ?? null), { status: declared.status, headers: JSON_HEADERS });
  }
}
