/** The OpenAPI description agrees with the declarations, and the declarations with the served routes. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { parse } from "yaml";
import { addedByServer } from "../../../src/lib/zod/fields.ts";
import * as z from "../../../src/lib/zod/z.ts";
import { getBasePath, type Operation, requiresBody } from "../../../src/platform/http/operation.ts";
import { listParameterNames } from "../../../src/platform/http/path-parameters.ts";
import { operations, operationsByFile } from "../../../src/server/features.ts";
import { startTestServer, type TestServer } from "../../support/harness.ts";

let server: TestServer;
let document: any;

beforeAll(async () => {
  server = await startTestServer();
  const answer = await server.as(undefined)("GET", "/openapi.yaml");
  expect(answer.status).toBe(200);
  document = parse(answer.text);
});
afterAll(() => server.stop());

const describedOf = (op: Operation) => document.paths[op.path]?.[op.method.toLowerCase()];
/** HTML pages are not part of the interface. */
const interfaced = operations.filter((op) => !op.page);
const titled = interfaced.map((op) => [`${op.method} ${op.path}`, op] as const);
/** Returns the schema inside an optional body. */
const within = (schema: z.ZodType | undefined) =>
  schema instanceof z.ZodPrefault ? schema.unwrap() : schema;
/** Returns the object in it; for a body that is parsed in two steps, that of the second one. */
function objectIn(schema: z.ZodType | undefined): z.ZodObject | undefined {
  const found = within(schema);
  return found instanceof z.ZodPipe ? (found.out as z.ZodObject) : (found as z.ZodObject | undefined);
}

/** Returns the fields of a body, without those that the server adds itself. */
const fieldsOf = (schema: z.ZodType | undefined) =>
  Object.entries(objectIn(schema)?.shape ?? {})
    .flatMap(([name, field]) => (field === addedByServer ? [] : [name]))
    .sort();

describe("the document", () => {
  test("is OpenAPI 3.1 of interface 1.423.2, open to everybody", () => {
    expect(document.openapi).toMatch(/^3\.1\.\d+$/);
    expect(document.info.version).toBe("1.423.2");
    expect(document.servers).toEqual([{ url: "/api" }]);
    expect(Object.keys(document.components.securitySchemes)).toEqual(["bearerAuth", "cookieAuth"]);
  });

  test("has the declared operations and no others, each with an id of its own", () => {
    const described = Object.entries<any>(document.paths).flatMap(([path, methods]) =>
      Object.entries<any>(methods).map(
        ([method, { operationId }]) => `${method.toUpperCase()} ${path} ${operationId}`,
      ),
    );
    expect(described.sort()).toEqual(interfaced.map((op) => `${op.method} ${op.path} ${op.name}`).sort());
    expect(new Set(operations.map((op) => op.name)).size).toBe(operations.length);
  });

  test("names its records, and timestamps are timestamps in it", () => {
    const { User, Job } = document.components.schemas;
    expect(User.properties.created_at).toEqual({ type: "string", format: "date-time" });
    expect(Job.properties.id).toEqual({ type: "string", format: "uuid" });
    const whoami = document.paths["/w/{workspace}/users/whoami"].get.responses[200];
    expect(whoami.content["application/json"].schema).toEqual({ $ref: "#/components/schemas/User" });
  });

  test("has no broken references", () => {
    const follow = (pointer: string) =>
      pointer
        .slice(2)
        .split("/")
        .reduce((at: any, part) => at?.[part], document);
    const walk = (value: any): void => {
      if (typeof value !== "object" || value === null) return;
      if (typeof value.$ref === "string")
        expect([value.$ref, follow(value.$ref) !== undefined]).toEqual([value.$ref, true]);
      for (const inner of Object.values(value)) walk(inner);
    };
    walk(document);
  });
});

describe("an operation", () => {
  test.each(titled)("%s: parameters, body, answer and access", (_, op) => {
    const described = describedOf(op);
    const named = (place: string) =>
      described.parameters.filter((each: any) => each.in === place).map((each: any) => each.name);
    expect(named("path")).toEqual(listParameterNames(op.path));
    expect(named("query").sort()).toEqual(fieldsOf(op.query));
    for (const parameter of described.parameters) {
      expect(parameter.schema).toBeObject();
      if (parameter.in === "path") expect(parameter.required).toBe(true);
    }
    const taken = op.body ? { "application/json": op.body } : op.reads;
    expect(Object.keys(described.requestBody?.content ?? {})).toEqual(Object.keys(taken ?? {}));
    expect(described.requestBody?.required).toBe(op.body ? requiresBody(op) : op.reads && false);
    const body = op.body && described.requestBody.content["application/json"].schema;
    if (body?.properties) expect(Object.keys(body.properties).sort()).toEqual(fieldsOf(op.body));
    expect(described.summary.length).toBeGreaterThan(5);
    expect(described.responses[op.responds.status].content).toBeObject();
    expect(described.responses.default).toBeDefined();
    for (const answer of Object.values<any>(described.responses)) {
      if (answer.$ref === undefined) expect(answer.description).not.toBe("");
    }
    expect(described["x-access"]).toBe(op.access);
    // Without credentials only where the declaration allows it.
    expect(described.security?.some((each: object) => Object.keys(each).length === 0) ?? false).toBe(
      op.access === "anyone",
    );
  });

  test.each(titled)("%s: has a tag and declares its errors", (_, op) => {
    const { tags, responses, summary } = describedOf(op);
    expect(tags).toHaveLength(1);
    const { description } = document.tags.find(({ name }: any) => name === tags[0]);
    expect(description).not.toStartWith("What stands below");
    expect(summary).not.toEndWith(".");
    const closed = op.access !== "anyone";
    const takes = listParameterNames(op.path).length > 0;
    const expected = [
      ...(takes || op.query || op.body || op.reads ? ["400"] : []),
      ...(closed ? ["401", "403"] : []),
      ...(takes ? ["404"] : []),
      ...(closed ? [] : ["429"]),
      "default",
    ];
    const errors = Object.keys(responses).filter((status) => !/^[23]/.test(status));
    expect(errors.sort()).toEqual(expected.sort());
    for (const status of errors) {
      const name = responses[status].$ref.split("/").at(-1);
      const { content } = document.components.responses[name];
      expect(Object.keys(content)).toEqual(["text/plain", "application/problem+json"]);
    }
  });

  const closed = titled.filter(([, op]) => op.access !== "anyone");
  const urlOf = (op: Operation) => op.path.replace("{workspace}", "acme").replace(/\{\w+\}/g, "x");

  test.each(closed)(
    "%s rejects anonymous callers and unknown tokens before it reads the body",
    async (_, op) => {
      for (const token of [undefined, "unknown".repeat(5)]) {
        const answer = await server.as(token)(op.method, urlOf(op), op.method === "GET" ? undefined : "{bad");
        expect([answer.status, answer.headers.get("svc-error")]).toEqual([401, "Unauthorized"]);
        expect(answer.headers.get("www-authenticate")).toBe("Bearer");
      }
    },
  );

  test("every public operation is in the list of reviewed ones", () => {
    const open = operations.filter((op) => op.access === "anyone").map((op) => `${op.method} ${op.path}`);
    for (const route of open) {
      expect(route).toMatch(
        /^((GET|POST|PUT|PATCH|DELETE) (\/r\/\{route_path\}$|\/w\/\{workspace\}\/capture_u\/)|(GET|POST) (\/$|\/user\/cli(-success)?$|\/version|\/health(\/live)?$|\/metrics$|\/openapi\.yaml|\/docs$|\/auth\/(log(in|out)|is_smtp_configured$|request_password_reset$|reset_password$)|\/setup\/|\/approve\/|\/w\/\{workspace\}\/((jobs?|apps)_u|s3_proxy)\/|\/(apps|scripts)_u\/|\/user\/login_callback\/|\/oauth\/(list_logins|login|login_callback|callback|callback_chat|chat_command|slack)(\/|$)|\/oidc\/(jwks$|\.well-known\/)|\/\.well-known\/))/,
      );
    }
  });
});

test("`svc routes --json` lists every route with its declaring file", async () => {
  const run = Bun.spawn([process.execPath, "cli/main.ts", "routes", "--json"], {
    cwd: `${import.meta.dir}/../../..`,
    stdout: "pipe",
    stderr: "inherit",
  });
  const [text, code] = await Promise.all([run.stdout.text(), run.exited]);
  expect(code).toBe(0);
  const wanted = [...operationsByFile].flatMap(([file, declared]) =>
    declared.map((op) => {
      const { method, path, access, name } = op;
      return { method, path: getBasePath(op) + path, access, name, file };
    }),
  );
  expect(JSON.parse(text)).toEqual(wanted);
  for (const file of operationsByFile.keys())
    expect(await Bun.file(`${import.meta.dir}/../../../${file}`).exists()).toBe(true);
  for (const { path, method } of interfaced) {
    expect(document.paths[path]).toHaveProperty(method.toLowerCase());
  }
});
