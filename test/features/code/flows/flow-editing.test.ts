/**
 * Server side of the flow editor: deployments from a stale version, and checks of expressions while they are
 * typed.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

let server: TestServer;
let ann: Ask;
let viewer: Ask;

beforeAll(async () => {
  server = await startTestServer();
  await server.workspace();
  ({ ask: ann } = await server.member("acme", "ann"));
  ({ ask: viewer } = await server.member("acme", "viewer", "operator"));
});
afterAll(() => server.stop());

test("a deployment based on a version that is no longer the newest is rejected", async () => {
  const path = "u/ann/both";
  const flow = { path, summary: "", value: { modules: [] } };
  const deploy = (more: object) => ann("POST", `/w/acme/flows/update/${path}`, { ...flow, ...more });
  const read = async () => (await expectOk(ann("GET", `/w/acme/flows/get/${path}`))).json();
  await expectOk(ann("POST", "/w/acme/flows/create", flow));
  const { version_id: first } = await read();
  await expectOk(deploy({ parent_version: first, summary: "one" }));
  const stale = await deploy({ parent_version: first, summary: "two" });
  expect(stale.status).toBe(400);
  expect(stale.text).toMatch(
    new RegExp(`parent_version ${first} is not the latest version of u/ann/both, which is \\d+`),
  );
  const found = await read();
  expect([found.summary, "parent_version" in found]).toEqual(["one", false]);
  await expectOk(deploy({ parent_version: null, summary: "clients that do not say it deploy as before" }));
  await expectOk(deploy({}));
});

const evaluate = async (expr: string, scope?: object, ask = ann) =>
  ask("POST", "/w/acme/flows/expressions/evaluate", { expr, ...(scope ? { scope } : {}) });
const outcome = async (expr: string, scope?: object) => (await expectOk(evaluate(expr, scope))).json();

test.each([
  ["results.a + flow_input.n", { results: { a: 1 }, flow_input: { n: 2 } }, { ok: true, value: 3 }],
  ["results.gone", { results: {} }, { ok: true }],
  [
    "1 +",
    undefined,
    {
      ok: false,
      error: { message: expect.stringContaining("SyntaxError"), line: 1, column: expect.any(Number) },
    },
  ],
  ["anything.at.all", undefined, { ok: true }],
  ["nothing.here", {}, { ok: false, error: { message: expect.stringContaining("nothing") } }],
  [
    "variable('f/a/b')",
    {},
    { ok: false, error: { message: expect.stringContaining("variable(…) is read when the flow runs") } },
  ],
  ["while (true) {}", {}, { ok: false, error: { message: expect.any(String) } }],
  ["(() => { for (;;); })()", {}, { ok: false, error: { message: expect.any(String) } }],
])("expression %s", async (expr, scope, expected) => {
  expect(await outcome(expr, scope)).toEqual(expected);
});

test("operators, who may not write flows, evaluate nothing", async () => {
  expect((await evaluate("1", {}, viewer)).status).toBe(403);
});

test("one user cannot occupy all threads of expressions", async () => {
  const endless = "(() => { for (;;); })()";
  const answers = await Promise.all(Array.from({ length: 12 }, () => evaluate(endless, {})));
  const refused = answers.filter(({ status }) => status === 429);
  expect([refused.length > 0, refused[0]?.headers.get("retry-after")]).toEqual([true, "1"]);
  expect(await outcome("1 + 1", {})).toEqual({ ok: true, value: 2 });
});
