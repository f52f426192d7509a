/**
 * The OpenAPI 3.1 description, derived from the operations' declarations.
 *
 * A body that `run` reads itself is described by the declaration's `reads`, a shared schema is named by `.meta({ id
 * })`, and the sentences of tags are in server/api-tags.ts. `reference-page.ts` shows the description at `/api/docs`.
 */
import { createTimeSlices } from "../../../lib/async/time-slices.ts";
import { Unauthorized } from "../../../lib/errors.ts";
import { INTERFACE_VERSION } from "../../../lib/version.ts";
import { addedByServer } from "../../../lib/zod/fields.ts";
import * as z from "../../../lib/zod/z.ts";
import type { Context } from "../../app/context.ts";
import {
  getRequiredScope,
  isoTimestamp,
  type Operation,
  operation,
  type RequestBodySchemas,
  requiresBody,
  responds,
} from "../operation.ts";
import { listParameterNames } from "../path-parameters.ts";
import type {
  ApiDescription,
  DescribedOperation,
  DescribedParameter,
  JsonSchema,
  Tag,
} from "./description.ts";
import { ERROR_RESPONSES, listErrorResponses, PROBLEM } from "./openapi-errors.ts";

/**
 * Rejects unauthenticated callers if the instance closes its description. It is open by default, since clients read it
 * before login.
 * @throws Unauthorized
 */
export function requireDescriptionAccess({ app, caller }: Context): void {
  if (caller.identity || app.settings.get("open_description")) return;
  throw new Unauthorized(
    "a valid token is needed: this instance does not describe itself to anonymous callers",
  );
}

/** Tags that group operations: descriptions by tag, and aliases (path segment to tag). */
export interface ApiTags {
  descriptions: Record<string, string>;
  aliases: Record<string, string>;
}

/** Creates the operation that serves the description of `all`, itself included. */
export function createOpenapiOperation(all: () => readonly Operation[], nouns: ApiTags): Operation {
  let text: Promise<string> | undefined;
  return operation({
    name: "getOpenApiYaml",
    method: "GET",
    path: "/openapi.yaml",
    access: "anyone",
    scope: false,
    summary: "Read the machine-readable description of this interface",
    responds: responds.raw("text/plain", "OpenAPI 3.1 document, in YAML"),
    run: async (ctx) => {
      requireDescriptionAccess(ctx);
      text ??= describeApi(all(), nouns).then(toYaml);
      return new Response(await text, { headers: { "content-type": "text/plain; charset=utf-8" } });
    },
  });
}

/** Serializes the document path by path and yields between them, because the whole takes too long at once. */
async function toYaml({ paths, ...rest }: ApiDescription): Promise<string> {
  const { stringify } = await import("yaml");
  const pace = createTimeSlices();
  const write = (value: object) => stringify(value, { aliasDuplicateObjects: false });
  const pieces = [write(rest), "paths:\n"];
  for (const [path, item] of Object.entries(paths)) {
    await pace();
    pieces.push(write({ [path]: item }).replace(/^(?=.)/gm, "  "));
  }
  return pieces.join("");
}

/** Orders operations by path and method, independent of where they are declared. */
const byPath = (a: Operation, b: Operation) =>
  a.path === b.path ? compareText(a.method, b.method) : compareText(a.path, b.path);

const compareText = (a: string, b: string) => (a < b ? -1 : Number(a > b));

/** Builds the whole document as a plain object. Pages outside /api are left out. */
export async function describeApi(all: readonly Operation[], nouns: ApiTags): Promise<ApiDescription> {
  const operations = all.filter((op) => !op.page).sort(byPath);
  const paths: ApiDescription["paths"] = {};
  const pace = createTimeSlices();
  for (const op of operations) {
    await pace();
    paths[op.path] ??= {};
    paths[op.path]![op.method.toLowerCase()] = describeOperation(op, nouns);
  }
  const schemas: Record<string, JsonSchema> = { Problem: PROBLEM };
  hoistNamed(paths, schemas);
  const info = {
    title: "svc",
    version: INTERFACE_VERSION,
    description:
      "Scripts and flows behind webhooks, and the workspaces, users, tokens and settings around them.",
    license: { name: "Apache-2.0", identifier: "Apache-2.0" },
  };
  const components = {
    schemas: Object.fromEntries(Object.entries(schemas).sort(([a], [b]) => (a < b ? -1 : 1))),
    securitySchemes: {
      bearerAuth: {
        type: "http",
        scheme: "bearer",
        description: "A token: of a session, or created for a program.",
      },
      cookieAuth: {
        type: "apiKey",
        in: "cookie",
        name: "token",
        description: "The same token as a cookie; accepted from pages of this server only.",
      },
    },
    responses: ERROR_RESPONSES,
  };
  return {
    openapi: "3.1.0",
    info,
    servers: [{ url: "/api" }],
    security: [{ bearerAuth: [] }, { cookieAuth: [] }],
    tags: tagsOf(operations, nouns),
    paths,
    components,
  } as ApiDescription;
}

function tagOf(op: Operation, { aliases }: ApiTags): string {
  const scope = getRequiredScope({ ...op, scope: undefined });
  const noun = scope ? scope.domain : "instance";
  return aliases[noun] ?? noun;
}

function tagsOf(operations: readonly Operation[], nouns: ApiTags): Tag[] {
  const names = [...new Set(operations.map((op) => tagOf(op, nouns)))].sort();
  return names.map((name) => ({
    name,
    description: nouns.descriptions[name] ?? `What stands below /${name}.`,
  }));
}

const DEFS_PREFIX = "#/$defs/";

/** Moves named schemas from each schema's `$defs` to the document's components and rewrites their references. */
function hoistNamed(value: unknown, schemas: Record<string, JsonSchema>): void {
  if (typeof value !== "object" || value === null) return;
  const node = value as Record<string, unknown>;
  if (typeof node.$ref === "string" && node.$ref.startsWith(DEFS_PREFIX)) {
    node.$ref = `#/components/schemas/${node.$ref.slice(DEFS_PREFIX.length)}`;
  }
  for (const inner of Object.values(node)) hoistNamed(inner, schemas);
  Object.assign(schemas, node.$defs);
  delete node.$defs;
}

function describeOperation(op: Operation, nouns: ApiTags): DescribedOperation {
  const body = requestBodyOf(op);
  return {
    operationId: op.name,
    summary: op.summary,
    tags: [tagOf(op, nouns)],
    ...(op.access === "anyone" ? { security: [{}, { bearerAuth: [] }, { cookieAuth: [] }] } : {}),
    parameters: [...pathParameters(op), ...queryParameters(op)],
    ...(body ? { requestBody: body } : {}),
    responses: {
      [op.responds.status]: {
        description: op.responds.description ?? defaultResponseDescription(op),
        content: { [contentType(op)]: { schema: responseSchema(op) } },
      },
      ...listErrorResponses(op),
    },
    "x-access": op.access,
  };
}

function requestBodyOf(op: Operation): DescribedOperation["requestBody"] {
  const content = (reads: RequestBodySchemas) =>
    Object.fromEntries(
      Object.entries(reads).map(([type, schema]) => [type, { schema: toJsonSchema(schema) }]),
    );
  if (op.body) return { required: requiresBody(op), content: content({ "application/json": op.body }) };
  return op.reads && { required: false, content: content(op.reads) };
}

/** Returns the description of a response whose declaration has none. */
function defaultResponseDescription(op: Operation): string {
  const type = op.responds.kind === "json" ? op.responds.schema._zod.def.type : "";
  if (type === "array") return "All that were found; empty when there are none.";
  if (type === "boolean") return "Yes or no.";
  return "What the summary says.";
}

function contentType(op: Operation): string {
  if (op.responds.kind === "raw") return op.responds.content_type;
  return op.responds.kind === "json" ? "application/json" : "text/plain";
}

function responseSchema(op: Operation): JsonSchema {
  if (op.responds.kind === "json") return toJsonSchema(op.responds.schema);
  if (contentType(op).startsWith("text/")) return { type: "string" };
  return contentType(op) === "application/octet-stream" ? { type: "string", format: "binary" } : {};
}

/** Descriptions of parameters that mean the same in all operations. */
const KNOWN_PARAMETERS: Record<string, { description: string; example?: string }> = {
  workspace: { description: "Id of the workspace.", example: "acme" },
  path: {
    description:
      "Path of the item, such as u/<user>/<name> or f/<folder>/<name>; its slashes may stand as they are.",
    example: "u/ann/hello",
  },
  hash: { description: "Hash of one version of a script." },
  version: { description: "Number of a version." },
  id: { description: "Id of the item." },
  job_id: { description: "Id of the job." },
  name: { description: "Name of the item." },
  email: { description: "E-mail address of the user.", example: "ann@example.org" },
  username: { description: "Username in the workspace.", example: "ann" },
  page: { description: "Page number; the first is 1." },
  per_page: { description: "Number of entries per page." },
};

function parameter(
  name: string,
  place: "path" | "query",
  required: boolean,
  schema: JsonSchema,
): DescribedParameter {
  const { description, example } = KNOWN_PARAMETERS[name] ?? {};
  return {
    name,
    in: place,
    required,
    ...(description && schema.description === undefined ? { description } : {}),
    schema,
    ...(example && place === "path" ? { example } : {}),
  };
}

function pathParameters(op: Operation): DescribedParameter[] {
  return listParameterNames(op.path).map((name) => parameter(name, "path", true, { type: "string" }));
}

function queryParameters(op: Operation): DescribedParameter[] {
  if (!op.query) return [];
  const { properties = {}, required = [] } = toJsonSchema(op.query) as {
    properties?: Record<string, JsonSchema>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, schema]) =>
    parameter(name, "query", required.includes(name), schema),
  );
}

/**
 * Converts a schema to JSON Schema in its input form, for requests and responses alike: a timestamp is text in both.
 */
function toJsonSchema(schema: z.ZodType): JsonSchema {
  const {
    $schema: _,
    $defs,
    ...rest
  } = z.toJSONSchema(schema, {
    io: "input",
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema === isoTimestamp || zodSchema._zod.def.type === "date") {
        delete jsonSchema.anyOf;
        Object.assign(jsonSchema, { type: "string", format: "date-time" });
      }
      if (zodSchema instanceof z.ZodObject) {
        for (const [name, member] of Object.entries(zodSchema.shape))
          if (member === addedByServer) delete jsonSchema.properties?.[name];
      }
      // The format implies it.
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
      // Only schemas in $defs are referenced by name.
      delete jsonSchema.id;
    },
  }) as JsonSchema & { $defs?: Record<string, JsonSchema> };
  const id = z.globalRegistry.get(schema)?.id;
  // A recursive schema is in $defs already.
  if (id !== undefined && rest.$ref === undefined)
    return { $ref: `${DEFS_PREFIX}${id}`, $defs: { ...$defs, [id]: rest } };
  return $defs ? { ...rest, $defs } : rest;
}
