/** The errors of operations, as the interface description tells them. */
import { type Operation, parameterNames } from "../operation.ts";

/** RFC 9457. */
export const PROBLEM = {
  type: "object",
  required: ["type", "title", "status", "detail"],
  properties: {
    type: { type: "string", description: "Always about:blank: the title says which error it is." },
    title: { type: "string", description: "Name of the error, as in the header svc-error." },
    status: { type: "integer" },
    detail: { type: "string" },
    hint: { type: "string", description: "What may be done about it." },
  },
  example: {
    type: "about:blank",
    title: "NotFound",
    status: 404,
    detail: "Not found: script u/ann/hello in workspace acme",
  },
};

const WAIT = { "retry-after": { description: "Seconds (RFC 9110 §10.2.3).", schema: { type: "integer" } } };
const SCHEME = { "www-authenticate": { description: "Bearer.", schema: { type: "string" } } };

function answer(description: string, more: object = {}) {
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

/** Text by default; RFC 9457 for who asks for application/problem+json. */
export const ERROR_RESPONSES = {
  BadRequest: answer(
    "The input is not what the operation takes; the text says where and what would be right.",
  ),
  Unauthorized: answer("There is no valid token, or its owner is not a member of the workspace.", SCHEME),
  Forbidden: answer("The caller, or the token by its scopes, may not do this."),
  NotFound: answer("There is no such thing, or the caller may not know of it."),
  TooManyRequests: answer("Too many calls without credentials from one address.", WAIT),
  Error: answer(
    "Any other error: a conflict (409), too large (413), a failure of the server (500), busy (503).",
  ),
};

/** The errors an operation may answer, by status, as references. */
export function errorsOf(op: Operation): Record<string, { $ref: string }> {
  const closed = op.access !== "anyone";
  const hasParameters = parameterNames(op.path).length > 0;
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
