/** The interface description, derived from the declarations: OpenAPI 3.1. */
import { z } from "zod";
import { createPacer } from "../../../lib/async/time-slices.ts";
import { Unauthorized } from "../../../lib/errors.ts";
import type { Context } from "../../app/context.ts";
import {
  moment,
  needsBody,
  type Operation,
  operation,
  parameterNames,
  type Reads,
  responds,
  scopeOf,
} from "../operation.ts";
import type { DescribedOperation, Description, Parameter, Schema, Tag } from "./description.ts";
import { ERROR_RESPONSES, errorsOf, PROBLEM } from "./openapi-errors.ts";

/** The interface's own version, which existing clients look for; not that of this software. */
export const INTERFACE_VERSION = "1.423.2";

/**
 * What describes the program is open, since clients ask before they log in, unless the operator has closed it.
 * @throws Unauthorized
 */
export function refuseStrangers({ app, caller }: Context): void {
  if (caller.identity || app.settings.get("open_description")) return;
  throw new Unauthorized("a valid token is needed: this instance tells strangers nothing of itself");
}

/** By what operations are sorted: each noun with what it is about, and the words that stand for another noun. */
export interface Nouns {
  about: Record<string, string>;
  same: Record<string, string>;
}

/** The operation that serves the description of `all`, itself included. */
export function openapiOperation(all: () => readonly Operation[], nouns: Nouns): Operation {
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
      refuseStrangers(ctx);
      text ??= describe(all(), nouns).then(toYaml);
      return new Response(await text, { headers: { "content-type": "text/plain; charset=utf-8" } });
    },
  });
}

/** The document as text, written path by path: as a whole it would take longer than others should wait. */
async function toYaml({ paths, ...rest }: Description): Promise<string> {
  const { stringify } = await import("yaml");
  const pace = createPacer();
  const write = (value: object) => stringify(value, { aliasDuplicateObjects: false });
  const pieces = [write(rest), "paths:\n"];
  for (const [path, item] of Object.entries(paths)) {
    await pace();
    pieces.push(write({ [path]: item }).replace(/^(?=.)/gm, "  "));
  }
  return pieces.join("");
}

/** The order of operations in the document follows from the interface, not from where in the code each is declared. */
const byPath = (a: Operation, b: Operation) =>
  a.path === b.path ? compareText(a.method, b.method) : compareText(a.path, b.path);

const compareText = (a: string, b: string) => (a < b ? -1 : Number(a > b));

/** The whole document as a plain object. Pages for people, below no /api, are no part of it. */
export async function describe(all: readonly Operation[], nouns: Nouns): Promise<Description> {
  const operations = all.filter((op) => !op.page).sort(byPath);
  const paths: Description["paths"] = {};
  const pace = createPacer();
  for (const op of operations) {
    await pace();
    paths[op.path] ??= {};
    paths[op.path]![op.method.toLowerCase()] = describeOperation(op, nouns);
  }
  const schemas: Record<string, Schema> = { Problem: PROBLEM };
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
        description: "A token: of a session, or made for a program.",
      },
      cookieAuth: {
        type: "apiKey",
        in: "cookie",
        name: "token",
        description: "The same token as a browser carries it; for pages of this server alone.",
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
  } as Description;
}

function tagOf(op: Operation, { same }: Nouns): string {
  const scope = scopeOf({ ...op, scope: undefined });
  const noun = scope ? scope.domain : "instance";
  return same[noun] ?? noun;
}

function tagsOf(operations: readonly Operation[], nouns: Nouns): Tag[] {
  const names = [...new Set(operations.map((op) => tagOf(op, nouns)))].sort();
  return names.map((name) => ({ name, description: nouns.about[name] ?? `What stands below /${name}.` }));
}

const NAMED = "#/$defs/";

/** Named schemas stand beside each one that uses them; references lead from the root, where OpenAPI has a place for them. */
function hoistNamed(value: unknown, schemas: Record<string, Schema>): void {
  if (typeof value !== "object" || value === null) return;
  const node = value as Record<string, unknown>;
  if (typeof node.$ref === "string" && node.$ref.startsWith(NAMED)) {
    node.$ref = `#/components/schemas/${node.$ref.slice(NAMED.length)}`;
  }
  for (const inner of Object.values(node)) hoistNamed(inner, schemas);
  Object.assign(schemas, node.$defs);
  delete node.$defs;
}

function describeOperation(op: Operation, nouns: Nouns): DescribedOperation {
  const body = bodyOf(op);
  return {
    operationId: op.name,
    summary: op.summary,
    tags: [tagOf(op, nouns)],
    ...(op.access === "anyone" ? { security: [{}, { bearerAuth: [] }, { cookieAuth: [] }] } : {}),
    parameters: [...pathParameters(op), ...queryParameters(op)],
    ...(body ? { requestBody: body } : {}),
    responses: {
      [op.responds.status]: {
        description: op.responds.description ?? answerOf(op),
        content: { [contentType(op)]: { schema: responseSchema(op) } },
      },
      ...errorsOf(op),
    },
    "x-access": op.access,
  };
}

function bodyOf(op: Operation): DescribedOperation["requestBody"] {
  const content = (reads: Reads) =>
    Object.fromEntries(Object.entries(reads).map(([type, schema]) => [type, { schema: toSchema(schema) }]));
  if (op.body) return { required: needsBody(op), content: content({ "application/json": op.body }) };
  return op.reads && { required: false, content: content(op.reads) };
}

/** What is answered where the declaration leaves that to the schema. */
function answerOf(op: Operation): string {
  const type = op.responds.kind === "json" ? op.responds.schema._zod.def.type : "";
  if (type === "array") return "All that were found; empty when there are none.";
  if (type === "boolean") return "Yes or no.";
  return "What the summary says.";
}

function contentType(op: Operation): string {
  if (op.responds.kind === "raw") return op.responds.content_type;
  return op.responds.kind === "json" ? "application/json" : "text/plain";
}

function responseSchema(op: Operation): Schema {
  if (op.responds.kind === "json") return toSchema(op.responds.schema);
  if (contentType(op).startsWith("text/")) return { type: "string" };
  return contentType(op) === "application/octet-stream" ? { type: "string", format: "binary" } : {};
}

/** Parameters that mean the same wherever they stand. */
const KNOWN_PARAMETERS: Record<string, { description: string; example?: string }> = {
  workspace: { description: "Id of the workspace.", example: "acme" },
  path: {
    description:
      "Path of the item, such as u/<user>/<name> or f/<folder>/<name>; its slashes may stand as they are.",
    example: "u/ann/hello",
  },
  hash: { description: "Hash of one version of a script." },
  version: { description: "Number of a version." },
  id: { description: "Id of what is meant." },
  job_id: { description: "Id of the job." },
  name: { description: "Name of what is meant." },
  email: { description: "E-mail address of the person.", example: "ann@example.org" },
  username: { description: "Name of the person in the workspace.", example: "ann" },
  page: { description: "Which page; the first is 1." },
  per_page: { description: "How many on a page." },
};

function parameter(name: string, place: "path" | "query", required: boolean, schema: Schema): Parameter {
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

function pathParameters(op: Operation): Parameter[] {
  return parameterNames(op.path).map((name) => parameter(name, "path", true, { type: "string" }));
}

function queryParameters(op: Operation): Parameter[] {
  if (!op.query) return [];
  const { properties = {}, required = [] } = toSchema(op.query) as {
    properties?: Record<string, Schema>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, schema]) =>
    parameter(name, "query", required.includes(name), schema),
  );
}

/** What is answered is described as it is handed to the schema, as what is asked is: a moment is text on both ways. */
function toSchema(schema: z.ZodType): Schema {
  const {
    $schema: _,
    $defs,
    ...rest
  } = z.toJSONSchema(schema, {
    io: "input",
    unrepresentable: "any",
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema === moment || zodSchema._zod.def.type === "date") {
        delete jsonSchema.anyOf;
        Object.assign(jsonSchema, { type: "string", format: "date-time" });
      }
      // What a format says already.
      if (jsonSchema.format !== undefined) delete jsonSchema.pattern;
      // Only what stands in $defs under its name has one.
      delete jsonSchema.id;
    },
  }) as Schema & { $defs?: Record<string, Schema> };
  const id = z.globalRegistry.get(schema)?.id;
  // One that refers to itself stands in $defs already.
  if (id !== undefined && rest.$ref === undefined)
    return { $ref: `${NAMED}${id}`, $defs: { ...$defs, [id]: rest } };
  return $defs ? { ...rest, $defs } : rest;
}
