/** Excessively nested JSON is rejected wherever it is received, before it is used. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { isTooDeep, MAX_JSON_DEPTH } from "../../../../src/lib/json/depth.ts";
import { listParameterNames } from "../../../../src/platform/http/path-parameters.ts";
import { operations } from "../../../../src/server/features.ts";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";

const DEEP = 50_000;
const deep = (levels = DEEP) => `${"[".repeat(levels)}${"]".repeat(levels)}`;
const deepObject = (levels = DEEP) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;

let server: TestServer;
let ask: Ask;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask } = await server.workspace());
  await deploy(ask, "acme", "u/admin/echo", "export const main = (x: unknown) => x");
}, 60_000);
afterAll(() => server.stop());

const post = (path: string, body: string, type = "application/json") =>
  ask("POST", path, body, { "content-type": type });

test("brackets in strings do not count, but those in truncated text do", () => {
  const bracket = "[".repeat(1000);
  expect(isTooDeep(JSON.stringify({ a: `${bracket}\\"${bracket}`, b: [bracket] }))).toBe(false);
  expect(isTooDeep(`["${bracket}`)).toBe(false);
  expect(isTooDeep(bracket)).toBe(true);
  expect(isTooDeep(`"\\\\"${bracket}`)).toBe(true);
  expect(isTooDeep(deep(MAX_JSON_DEPTH))).toBe(false);
  expect(isTooDeep(deepObject(MAX_JSON_DEPTH + 1))).toBe(true);
  expect(isTooDeep("[]".repeat(100_000))).toBe(false);
});

const WAYS: [what: string, send: () => ReturnType<Ask>][] = [
  ["arguments", () => post("/w/acme/jobs/run/p/u/admin/echo", `{"x":${deep()}}`)],
  ["arguments that are not an object", () => post("/w/acme/jobs/run/p/u/admin/echo", deep())],
  ["arguments of another type", () => post("/w/acme/jobs/run/p/u/admin/echo", deepObject(), "text/plain")],
  ["arguments that break off", () => post("/w/acme/jobs/run/p/u/admin/echo", "[".repeat(DEEP))],
  [
    "a CloudEvent",
    () =>
      post(
        "/w/acme/jobs/run/p/u/admin/echo",
        `{"specversion":"1.0","id":"1","source":"/t","type":"t","data":${deep()}}`,
        "application/cloudevents+json",
      ),
  ],
  [
    "a form that is JSON",
    () => post("/w/acme/jobs/run/p/u/admin/echo", deep(), "application/x-www-form-urlencoded"),
  ],
  [
    "a payload",
    () => {
      const payload = Buffer.from(deep(1_000)).toString("base64url");
      return ask("GET", `/w/acme/jobs/run_wait_result/p/u/admin/echo?payload=${payload}`);
    },
  ],
  [
    "a resource",
    () => post("/w/acme/resources/create", `{"path":"u/admin/d","resource_type":"any","value":${deep()}}`),
  ],
  ["imported jobs", () => post("/w/acme/jobs/queue/import", `[{"args":${deep()}}]`)],
  [
    "a preview",
    () =>
      post("/w/acme/jobs/run/preview", `{"content":"export const main = () => 1","args":${deepObject()}}`),
  ],
];

test.each(WAYS)("%s: is rejected at once, with the reason", async (_, send) => {
  const began = performance.now();
  const answer = await send();
  expect(answer.status).toBe(400);
  expect(answer.text).toContain(`nested deeper than the ${MAX_JSON_DEPTH} levels`);
  expect(performance.now() - began).toBeLessThan(1_000);
});

test("every operation that takes a body", async () => {
  const { ask: root } = await server.user("root", { super_admin: true });
  const paths = operations.filter((op) => op.body && !op.page);
  expect(paths.length).toBeGreaterThan(50);
  const told: string[] = [];
  for (const op of paths) {
    let path = op.path as string;
    for (const name of listParameterNames(path))
      path = path.replace(`{${name}}`, name === "workspace" ? "acme" : "1");
    const answer = await root(op.method, path, `{"value":${deep()}}`, { "content-type": "application/json" });
    if (answer.status >= 500 || answer.status < 400) told.push(`${op.method} ${op.path}: ${answer.status}`);
  }
  expect(told).toEqual([]);
});

test("a message of an MCP client", async () => {
  const answer = await post("/mcp/w/acme/mcp", deepObject());
  expect([400, 404]).toContain(answer.status);
});

const failing = async (path: string) => {
  const answer = await ask("POST", `/w/acme/jobs/run_wait_result/p/${path}`, {});
  return answer.json().error?.message as string;
};

test("a too deep result fails its job, and so does a nested error", async () => {
  const code = `export function main() { let v: unknown = 1; for (let i = 0; i < 2_000; i++) v = [v]; return v }`;
  await deploy(ask, "acme", "u/admin/result", code);
  expect(await failing("u/admin/result")).toContain(`nested deeper than the ${MAX_JSON_DEPTH} levels`);
  const file = `printf '[%.0s' {1..2000} > result.json; printf ']%.0s' {1..2000} >> result.json`;
  await deploy(ask, "acme", "u/admin/file", file, { language: "bash" });
  expect(await failing("u/admin/file")).toContain("nested deeper");
  const python = "def main():\n    v = 1\n    for i in range(800):\n        v = [v]\n    return v";
  await deploy(ask, "acme", "u/admin/python", python, { language: "python3" });
  expect(await failing("u/admin/python")).toContain("nested deeper");
});

test("a step fails if an expression, or recursion, nests its arguments too deeply", async () => {
  const step = (id: string, expr: string) => ({
    id,
    value: { type: "script", path: "u/admin/echo", input_transforms: { x: { type: "javascript", expr } } },
  });
  const flow = async (module: object) =>
    (
      await expectOk(
        ask("POST", "/w/acme/jobs/run_wait_result/preview_flow", { value: { modules: [module] }, args: {} }),
      )
    ).text;
  const nested = "let v = 1; for (let i = 0; i < 600; i++) v = [v]; return v";
  expect(await flow(step("a", nested))).toContain("nested deeper");
});

test("a deeply nested chunk of a stream is treated as text", async () => {
  const code = `export async function* main() { yield ${JSON.stringify(deep(2_000))} }`;
  await deploy(ask, "acme", "u/admin/stream", code);
  const id = (await expectOk(ask("POST", "/w/acme/jobs/run/p/u/admin/stream", {}))).text;
  const result = await until(async () => {
    const answer = await ask("GET", `/w/acme/jobs_u/completed/get_result_maybe/${id}`);
    return answer.json().completed ? answer.json().result : undefined;
  });
  expect(result).toBe(deep(2_000));
});

test("the number of a form's fields is limited", async () => {
  const form = "application/x-www-form-urlencoded";
  const few = await post("/w/acme/jobs/run/p/u/admin/echo", "x=1&y=2", form);
  expect(few.status).toBe(201);
  const many = await post("/w/acme/jobs/run/p/u/admin/echo", "a=1&".repeat(500_000), form);
  expect([many.status, many.text]).toEqual([400, expect.stringContaining("more than 10000 fields")]);
});
