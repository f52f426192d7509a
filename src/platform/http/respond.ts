/** The one place that turns results and errors into HTTP. */
import * as errors from "../../lib/errors.ts";
import { Answered, type Responds } from "./operation.ts";

/** Status of each class, and what existing clients of the interface read at the beginning of an error's text. */
const KINDS: [
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
 * What may be told of an error. A class derived from a listed one (a syntax fault is a bad request) takes its status;
 * anything that is not an SvcError is ours and hides its message.
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
  const [, status, prefix] = KINDS.find(([kind]) => error instanceof kind) ?? [undefined, 500, "Internal"];
  return { name: error.name, status, message: `${prefix}: ${error.message}`, hint: error.hint };
}

/** text/plain for existing clients; RFC 9457 for who asks for application/problem+json. */
export function errorResponse(error: unknown, accept: string | null): Response {
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

const TEXT = { "content-type": "text/plain; charset=utf-8" };
const JSON_TYPE = { "content-type": "application/json" };

export function successResponse(declared: Responds<unknown>, value: unknown): Response {
  if (value instanceof Answered) {
    const response = successResponse(declared, value.value);
    for (const name in value.headers) response.headers.set(name, value.headers[name]!);
    return response;
  }
  switch (declared.kind) {
    case "raw":
      return value as Response;
    case "text":
      return new Response(String(value), { status: declared.status, headers: TEXT });
    case "json":
      return new Response(JSON.stringify(value ?? null), { status: declared.status, headers: JSON_TYPE });
  }
}
