/** Error responses in the OpenAPI description. */
import type { Operation } from "../operation.ts";
import { listParameterNames } from "../path-parameters.ts";

/** Problem details (RFC 9457). */
export const PROBLEM = {
  type: "object",
  required: ["type", "title", "status", "detail"],
  properties: {
    type: { type: "string", description: "Always about:blank: the title names the error." },
    title: { type: "string", description: "Name of the error, as in the header svc-error." },
    status: { type: "integer" },
    detail: { type: "string" },
    hint: { type: "string", description: "Suggested remedy." },
  },
  example: {
    type: "about:blank",
    title: "NotFound",
    status: 404,
    detail: "Not found: script u/ann/hello in workspace acme",
  },
};

const RETRY_AFTER_HEADER = {
  "retry-after": { description: "Seconds (RFC 9110 §10.2.3).", schema: { type: "integer" } },
};
const WWW_AUTHENTICATE_HEADER = {
  "www-authenticate": { description: "Bearer.", schema: { type: "string" } },
};

function describeErrorResponse(description: string, more: object = {}) {
  return {
    description,
    headers: {
      "svc-error": { description: "Name of the error.", schema: { type: "string" } },
      ...more,
    },
    content: {
      "text/plain": { schema: { type: "string" } },
      "application/problem+json": { schema: { $ref: "#/components/schemas/Problem" } },
    },
  };
}

/** Plain text by default; RFC 9457 for clients that accept application/problem+json. */
export const ERROR_RESPONSES = {
  BadRequest: describeErrorResponse(
    "The input is not what the operation takes; the text says where and what would be right.",
  ),
  Unauthorized: describeErrorResponse(
    "There is no valid token, or its owner is not a member of the workspace.",
    WWW_AUTHENTICATE_HEADER,
  ),
  Forbidden: describeErrorResponse("The caller, or the token by its scopes, may not do this."),
  NotFound: describeErrorResponse("There is no such thing, or the caller may not know of it."),
  TooManyRequests: describeErrorResponse(
    "Too many calls without credentials from one address.",
    RETRY_AFTER_HEADER,
  ),
  Error: describeErrorResponse(
    "Any other error: a conflict (409), too large (413), a failure of the server (500), busy (503).",
  ),
};

/** Returns references to the error responses of an operation, by status. */
export function listErrorResponses(op: Operation): Record<string, { $ref: string }> {
  const closed = op.access !== "anyone";
  const hasParameters = listParameterNames(op.path).length > 0;
  const names: [status: string, name: keyof typeof ERROR_RESPONSES, isThere: boolean][] = [
    ["400", "BadRequest", hasParameters || !!op.query || !!op.body || !!op.reads],
    ["401", "Unauthorized", closed],
    ["403", "Forbidden", closed],
    ["404", "NotFound", hasParameters],
    ["429", "TooManyRequests", !closed],
    ["default", "Error", true],
  ];
  const there = names.filter(([, , isThere]) => isThere);
  return Object.fromEntries(
    there.map(([status, name]) => [status, { $ref: `#/components/responses/${name}` }]),
  );
}
