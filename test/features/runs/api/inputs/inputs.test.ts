import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Ask, deploy, expectOk, startTestServer, type TestServer } from "../../../../support/harness.ts";

let server: TestServer;
const as: Record<string, Ask> = {};
let hash: string;
const FLOW = { summary: "", value: { modules: [{ id: "a", value: { type: "identity" } }] } };
const NOBODY = "00000000-0000-0000-0000-000000000000";

beforeAll(async () => {
  server = await startTestServer();
  as.admin = (await server.workspace()).ask;
  for (const name of ["ann", "bob"]) as[name] = (await server.member("acme", name)).ask;
  as.operator = (await server.member("acme", "ops", "operator")).ask;
  const entries = { "u/ann": true, "u/ops": false, "u/bob": false };
  await expectOk(as.admin("POST", "/w/acme/folders/create", { name: "data", extra_perms: entries }));
  hash = await deploy(as.ann!, "acme", "f/data/x", "export const main = (n: number) => n");
  await expectOk(as.ann!("POST", "/w/acme/flows/create", { ...FLOW, path: "f/data/x" }));
  await deploy(as.ann!, "acme", "u/ann/own", "export const main = (n: number) => n");
});
afterAll(() => server.stop());

const of = (runnable_type: string, runnable_id: string) =>
  `runnable_type=${runnable_type}&runnable_id=${encodeURIComponent(runnable_id)}`;
const SCRIPT = of("ScriptPath", "f/data/x");
const inputs = (who: string, path: string) => as[who]!("GET", `/w/acme/inputs/${path}`);
const keep = (who: string, runnable: string, body: object) =>
  as[who]!("POST", `/w/acme/inputs/create?${runnable}`, body);
const change = (who: string, verb: string, body?: object) => as[who]!("POST", `/w/acme/inputs/${verb}`, body);

test.each([
  ["a script's path", () => SCRIPT],
  ["a version of a script", () => of("ScriptHash", hash)],
  ["a flow", () => of("FlowPath", "f/data/x")],
])("arguments of %s are saved for oneself, or for everybody who may read it", async (_, runnable) => {
  const made = await keep("operator", runnable(), { name: "The usual", args: { n: 1, deep: { a: [null] } } });
  expect(made.status).toBe(201);
  const id = made.text;
  const mine = {
    id,
    name: "The usual",
    created_by: "ops",
    created_at: expect.any(String),
    is_public: false,
    args: null,
  };
  const list = async (who: string) => (await inputs(who, `list?${runnable()}`)).json();
  expect(await list("operator")).toEqual([mine]);
  expect(await list("ann")).toEqual([]);
  expect((await inputs("ann", `${id}/args?input=true`)).status).toBe(404);
  expect((await change("ann", "update", { id, name: "mine", is_public: true })).status).toBe(404);
  await expectOk(change("operator", "update", { id, name: "Ours", is_public: true }));
  expect(await list("ann")).toEqual([{ ...mine, name: "Ours", is_public: true }]);
  for (const query of ["", "?input=true"]) {
    expect((await inputs("ann", `${id}/args${query}`)).json()).toEqual({ n: 1, deep: { a: [null] } });
  }
  expect((await change("ann", "update", { id, name: "mine", is_public: true })).status).toBe(403);
  expect((await change("ann", `delete/${id}`)).status).toBe(403);
  expect((await expectOk(change("operator", `delete/${id}`))).text).toBe(id);
  expect(await list("operator")).toEqual([]);
  expect((await inputs("operator", `${id}/args?input=true`)).status).toBe(404);
});

test("the newest come first, a page at a time", async () => {
  for (const n of [1, 2, 3]) await expectOk(keep("ann", SCRIPT, { name: `number ${n}`, args: { n } }));
  const names = async (page: number) =>
    ((await inputs("ann", `list?${SCRIPT}&per_page=2&page=${page}`)).json() as { name: string }[]).map(
      ({ name }) => name,
    );
  expect([await names(1), await names(2)]).toEqual([["number 3", "number 2"], ["number 1"]]);
});

test("the history contains runs that the caller may see: in a folder, those of all readers", async () => {
  const run = (who: string, target: string, n: number) =>
    expectOk(as[who]!("POST", `/w/acme/jobs/run_wait_result/${target}`, { n }));
  await run("ann", "p/f/data/x", 1);
  await run("ann", "p/f/data/x", 2);
  await run("bob", "p/f/data/x", 3);
  await run("ann", "f/f/data/x", 4);
  type Run = { id: string; created_by: string; success: boolean; name: string };
  const history = async (who: string, query: string) =>
    (await expectOk(inputs(who, `history?${query}`))).json() as Run[];
  const found = await history("ann", SCRIPT);
  expect(found.map(({ created_by, success }) => [created_by, success])).toEqual([
    ["bob", true],
    ["ann", true],
    ["ann", true],
  ]);
  expect(found[0]).toHaveProperty("args", null);
  expect(found[0]!.name).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d bob$/);
  expect(await history("bob", SCRIPT)).toHaveLength(3);
  expect(await history("admin", SCRIPT)).toHaveLength(3);
  expect(await history("ann", of("ScriptHash", hash))).toHaveLength(3);
  expect(await history("ann", of("FlowPath", "f/data/x"))).toHaveLength(1);
  expect(await history("ann", `${SCRIPT}&args=${encodeURIComponent('{"n":1}')}`)).toHaveLength(1);
  expect(await history("ann", `${SCRIPT}&per_page=1`)).toHaveLength(1);
  const preview = { path: "f/data/x", content: "export const main = () => 1", language: "bun" };
  await expectOk(as.ann!("POST", "/w/acme/jobs/run_wait_result/preview", preview));
  expect(await history("ann", SCRIPT)).toHaveLength(3);
  expect(await history("ann", `${SCRIPT}&include_preview=true`)).toHaveLength(4);
  for (const query of ["", "?input=false"]) {
    expect((await inputs("ann", `${found[0]!.id}/args${query}`)).json()).toEqual({ n: 3 });
  }
  expect((await inputs("bob", `${found[1]!.id}/args`)).json()).toEqual({ n: 2 });
});

test("nothing is stored or returned about items that the caller may not read", async () => {
  const own = of("ScriptPath", "u/ann/own");
  expect((await keep("bob", own, { name: "x", args: {} })).status).toBe(404);
  expect((await inputs("bob", `list?${own}`)).status).toBe(404);
  expect((await inputs("bob", `history?${own}`)).status).toBe(404);
  const id = (await expectOk(keep("ann", own, { name: "x", args: {} }))).text;
  await expectOk(change("ann", "update", { id, name: "x", is_public: true }));
  expect((await inputs("bob", `${id}/args`)).status).toBe(404);
});

test.each([
  ["create", `create?${SCRIPT}`, { name: " ", args: {} }, 400, "`name`"],
  ["create", `create?${SCRIPT}`, { name: "x", args: [] }, 400, "`args`"],
  ["create", "create?runnable_id=f/data/x", { name: "x", args: {} }, 400, "`runnable_type`"],
  ["create", `create?${of("AppPath", "x")}`, { name: "x", args: {} }, 400, "`runnable_type`"],
  ["update", "update", { id: NOBODY, name: "x", is_public: true }, 404, NOBODY],
  ["update", "update", { id: NOBODY, name: "x" }, 400, "`is_public`"],
  ["delete", `delete/${NOBODY}`, undefined, 404, NOBODY],
] as const)("%s with %s %p is refused and says why", async (_, path, body, status, message) => {
  const answer = await change("ann", path, body);
  expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(message)]);
});
