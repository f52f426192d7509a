/** Steps created from operations of OpenAPI documents run, and make the documented calls. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { stringify } from "yaml";
import { parseApiDocument } from "../../../src/console/pages/scripts/flow-editor/openapi/read.ts";
import { createStep } from "../../../src/console/pages/scripts/flow-editor/openapi/to-step.ts";

const folder = mkdtempSync(join(tmpdir(), "openapi-"));
afterAll(() => rmSync(folder, { recursive: true }));

const API = (server: string) => ({
  openapi: "3.1.0",
  info: { title: "Pets */ and more", version: "1" },
  servers: [{ url: `${server}/v1/` }],
  security: [{ key: [] }],
  paths: {
    "/pets/{pet-id}/visits": {
      parameters: [{ $ref: "#/components/parameters/PetId" }],
      post: {
        summary: "Note a visit",
        parameters: [
          { name: "tag", in: "query", schema: { type: "array", items: { type: "string" } } },
          { name: "X-Reason", in: "header", schema: { type: "string" } },
          { name: "class", in: "query", schema: { enum: ["a", "b"] } },
        ],
        requestBody: {
          required: true,
          content: { "application/json": { schema: { $ref: "#/components/schemas/Visit" } } },
        },
      },
    },
    "/health": { get: { security: [] } },
  },
  components: {
    parameters: { PetId: { name: "pet-id", in: "path", required: true, schema: { type: "integer" } } },
    schemas: {
      Visit: {
        type: "object",
        required: ["day"],
        properties: {
          day: { type: "string" },
          "a-b": { type: "number" },
          again: { $ref: "#/components/schemas/Visit" },
        },
      },
    },
    securitySchemes: { key: { type: "apiKey", in: "header", name: "X-Key" } },
  },
});

test("an operation becomes code that calls it, from YAML and JSON", async () => {
  const calls: unknown[] = [];
  using server = Bun.serve({
    port: 0,
    fetch: async (request) => {
      const { pathname, searchParams } = new URL(request.url);
      const header = (name: string) => request.headers.get(name);
      calls.push([
        request.method,
        pathname,
        [...searchParams],
        header("x-key"),
        header("x-reason"),
        await request.text(),
      ]);
      return pathname === "/v1/health" ? new Response("fine") : Response.json({ id: 1 });
    },
  });
  for (const source of [stringify(API(server.url.origin)), JSON.stringify(API(server.url.origin))]) {
    const document = parseApiDocument(source);
    expect(document.operations.map(({ name }) => name)).toEqual([
      "POST /pets/{pet-id}/visits",
      "GET /health",
    ]);
    const [visit, health] = document.operations.map(
      (each) => createStep(document, each).value as { content: string },
    );
    expect(visit!.content).toContain("pet_id: number,");
    expect(visit!.content).toContain('class_?: "a" | "b",');
    expect(visit!.content).toContain('body: { day: string; "a-b"?: number; again?: {');
    const run = async (content: string) => {
      const file = join(folder, `${crypto.randomUUID()}.ts`);
      writeFileSync(file, content);
      return (await import(file)).main as (...args: unknown[]) => unknown;
    };
    const main = await run(visit!.content);
    expect(await main(7, { day: "x" }, "secret", ["a", "b"], "why", undefined)).toEqual({ id: 1 });
    expect(await (await run(health!.content))()).toBe("fine");
  }
  const tags = [
    ["tag", "a"],
    ["tag", "b"],
  ];
  expect(calls[0]).toEqual(["POST", "/v1/pets/7/visits", tags, "secret", "why", '{"day":"x"}']);
  expect(calls.length).toBe(4);
});

test("an invalid OpenAPI document is reported", () => {
  for (const source of ["hello", "{}", "openapi: 3.0.0\npaths: {}"])
    expect(() => parseApiDocument(source)).toThrow(/document/);
});

test("invalid names, keys in cookies, and URLs relative to the document", async () => {
  const seen: unknown[] = [];
  using server = Bun.serve({
    port: 0,
    fetch: (request) => {
      const { pathname, searchParams } = new URL(request.url);
      const headers = ["cookie", "x-note"].map((name) => request.headers.get(name));
      seen.push([pathname, Object.fromEntries(searchParams), ...headers]);
      return Response.json("done");
    },
  });
  const names = ["public", "arguments", "eval", "URL", "fetch", "String", "url", "await", "undefined"];
  const source = {
    openapi: "3.0.0",
    info: { title: "Odd", version: "1" },
    servers: [{ url: "/api/v2" }],
    paths: {
      "/odd": {
        get: {
          parameters: [
            ...names.map((name) => ({ name, in: "query", required: true, schema: { type: "string" } })),
            { name: "X-Note", in: "header", schema: { type: "string" } },
          ],
          security: [{ session: [] }],
        },
      },
    },
    components: { securitySchemes: { session: { type: "apiKey", in: "cookie", name: "sid" } } },
  };
  const document = parseApiDocument(JSON.stringify(source));
  const { content } = createStep(document, document.operations[0]!).value as { content: string };
  const file = join(folder, "odd.ts");
  writeFileSync(file, content);
  const { main } = await import(file);
  expect(await main(...names.map((name) => `of ${name}`), "a b", server.url.origin, null)).toBe("done");
  const query = Object.fromEntries(names.map((name) => [name, `of ${name}`]));
  expect(seen).toEqual([["/odd", query, "sid=a%20b", null]]);
});
