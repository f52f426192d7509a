/** The interface description, derived from the declarations: OpenAPI 3.1. */
import { z } from "zod";
import { type Operation, operation, parameterNames, responds, scopeOf } from "./operation.ts";

/** The interface's own version, which existing clients look for; not that of this software. */
export const INTERFACE_VERSION = "1.423.2";

/** The operation that serves the description of `all`, itself included. */
export function openapiOperation(all: () => readonly Operation[]): Operation {
  let text: string | undefined;
  return operation({
    name: "getOpenApiYaml",
    method: "GET",
    path: "/openapi.yaml",
    access: "anyone",
    scope: false,
    summary: "Read the machine-readable description of this interface",
    responds: responds.raw("application/yaml", "OpenAPI 3.1 document"),
    run: async () => {
      if (text === undefined) {
        const { stringify } = await import("yaml");
        text = stringify(describe(all()), { aliasDuplicateObjects: false });
      }
      return new Response(text, { headers: { "content-type": "text/plain; charset=utf-8" } });
    },
  });
}

/** The whole document as a plain object. */
export function describe(operations: readonly Operation[]): Record<string, unknown> {
  const paths: Record<string, Record<string, unknown>> = {};
  for (const op of operations) {
    if (op.page) continue;
    paths[op.path] ??= {};
    paths[op.path]![op.method.toLowerCase()] = describeOperation(op);
  }
  const schemas: Record<string, unknown> = {};
  hoistNamed(paths, schemas);
  return {
    openapi: "3.1.0",
    info: {
      title: "svc",
      version: INTERFACE_VERSION,
      description:
        "Scripts and flows behind webhooks, and the workspaces, users, tokens and settings around them.",
      license: { name: "Apache-2.0", identifier: "Apache-2.0" },
    },
    servers: [{ url: "/api" }],
    security: [{ bearerAuth: [] }, { cookieAuth: [] }],
    tags: [...new Set(operations.map(tagOf))].sort().map((name) => ({ name })),
    paths,
    components: {
      schemas,
      securitySchemes: {
        bearerAuth: { type: "http", scheme: "bearer" },
        cookieAuth: { type: "apiKey", in: "cookie", name: "token" },
      },
      responses: {
        Error: {
          description: "What went wrong; the header svc-error carries its name.",
          headers: { "svc-error": { schema: { type: "string" } } },
          content: {
            "text/plain": { schema: { type: "string" } },
            "application/problem+json": { schema: PROBLEM },
          },
        },
      },
    },
  };
}

/** RFC 9457. */
const PROBLEM = {
  type: "object",
  required: ["type", "title", "status", "detail"],
  properties: {
    type: { type: "string" },
    title: { type: "string" },
    status: { type: "integer" },
    detail: { type: "string" },
    hint: { type: "string" },
  },
};

function tagOf(op: Operation): string {
  const scope = scopeOf({ ...op, scope: undefined });
  return scope ? scope.domain || "instance" : "instance";
}

const NAMED = "#/$defs/";

/** Named schemas stand beside each one that uses them; references lead from the root, where OpenAPI has a place for them. */
function hoistNamed(value: unknown, schemas: Record<string, unknown>): void {
  if (typeof value !== "object" || value === null) return;
  const node = value as Record<string, unknown>;
  if (typeof node.$ref === "string" && node.$ref.startsWith(NAMED)) {
    node.$ref = `#/components/schemas/${node.$ref.slice(NAMED.length)}`;
  }
  for (const inner of Object.values(node)) hoistNamed(inner, schemas);
  Object.assign(schemas, node.$defs);
  delete node.$defs;
}

function describeOperation(op: Operation): Record<string, unknown> {
  const { kind, status, description } = op.responds;
  return {
    operationId: op.name,
    summary: op.summary,
    tags: [tagOf(op)],
    ...(op.access === "anyone" ? { security: [{}, { bearerAuth: [] }, { cookieAuth: [] }] } : {}),
    parameters: [...pathParameters(op), ...queryParameters(op)],
    ...(op.body
      ? {
          requestBody: {
            required: true,
            content: { "application/json": { schema: toSchema(op.body, "input") } },
          },
        }
      : {}),
    responses: {
      [status]: { description, content: { [contentType(op)]: { schema: responseSchema(op, kind) } } },
      default: { $ref: "#/components/responses/Error" },
    },
    "x-access": op.access,
  };
}

function contentType(op: Operation): string {
  if (op.responds.kind === "raw") return op.responds.content_type;
  return op.responds.kind === "json" ? "application/json" : "text/plain";
}

function responseSchema(op: Operation, kind: string): unknown {
  if (op.responds.kind === "json") return toSchema(op.responds.schema, "output");
  return kind === "text" || contentType(op).startsWith("text/") ? { type: "string" } : {};
}

function pathParameters(op: Operation): unknown[] {
  return parameterNames(op.path).map((name) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
}

function queryParameters(op: Operation): unknown[] {
  if (!op.query) return [];
  const schema = toSchema(op.query, "input") as { properties?: Record<string, unknown>; required?: string[] };
  return Object.entries(schema.properties ?? {}).map(([name, property]) => ({
    name,
    in: "query",
    required: schema.required?.includes(name) ?? false,
    schema: property,
  }));
}

function toSchema(schema: z.ZodType, io: "input" | "output"): unknown {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, {
    io,
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema._zod.def.type === "date")
        Object.assign(jsonSchema, { type: "string", format: "date-time" });
    },
  }) as Record<string, unknown>;
  return rest;
}
