/** Search of jobs for words. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Ask, deploy, expectOk, startTestServer, type TestServer } from "../../../../support/harness.ts";

let server: TestServer;
let ask: Ask;
const ids: Record<string, string> = {};

beforeAll(async () => {
  server = await startTestServer();
  ({ ask } = await server.workspace());
  await deploy(ask, "acme", "u/admin/order", "export const main = (x: unknown) => ({ got: x })");
  await deploy(ask, "acme", "u/admin/const", "export const main = () => 'a Pear'");
  const run = async (name: string, path: string, body: string) => {
    const url = `/w/acme/jobs/run_wait_result/p/u/admin/${path}`;
    await expectOk(ask("POST", url, body, { "content-type": "application/json" }));
    const [job] = (await expectOk(ask("GET", "/w/acme/jobs/list?per_page=1"))).json();
    ids[name] = job.id;
  };
  await run("apple", "order", '{"x":{"customer":"Zoë O\'Neil","item":"apple \\"red\\"","n":4711}}');
  await run("escaped", "order", '{"x":{"customer":"Zo\\u00eb","path":"a\\/b"}}');
  await run("pear", "const", "{}");
});
afterAll(() => server.stop());

const search = async (by: Ask, query: string, more = "") =>
  (
    await expectOk(
      by("GET", `/srch/w/acme/index/search/job?search_query=${encodeURIComponent(query)}${more}`),
    )
  ).json();
const found = async (query: string, by = ask, more = "") => {
  const { hits } = await search(by, query, more);
  return hits.map(({ document }: any) => Object.keys(ids).find((name) => ids[name] === document.id));
};

test.each([
  ["4711", ["apple"]],
  ["zoë", ["escaped", "apple"]],
  ["ZOË apple", ["apple"]],
  ['"zoë o\'neil"', ["apple"]],
  ['"o\'neil zoë"', []],
  ["a/b", ["escaped"]],
  ["pear", ["pear"]],
  ["u/admin/order", ["escaped", "apple"]],
  ["nothing-of-that", []],
])("%s is found in %j", async (query, names) => {
  expect(await found(query)).toEqual(names);
});

test("a job is found by its id, with its arguments and without its result", async () => {
  const { hits } = await search(ask, ids.escaped!);
  expect(hits).toMatchObject([{ document: { id: ids.escaped, args: { x: { customer: "Zoë" } } } }]);
  expect(hits[0].document.result).toBeUndefined();
});

test("pages are consecutive", async () => {
  expect(await found("admin", ask, "&pagination_offset=1")).toEqual(
    expect.arrayContaining(["escaped", "apple"]),
  );
  expect(await found("zoë", ask, "&pagination_offset=1")).toEqual(["apple"]);
});

test("users find only jobs that they may see, and nothing with a token that runs one script", async () => {
  const { ask: stranger } = await server.member("acme", "stranger");
  expect(await found("4711", stranger)).toEqual([]);
  const body = { label: "webhook-x", scopes: ["run:script/u/admin/order"], workspace_id: "acme" };
  const token = (await expectOk(ask("POST", "/users/tokens/create", body))).text;
  const refused = await server.as(token)("GET", "/srch/w/acme/index/search/job?search_query=4711");
  expect([401, 403]).toContain(refused.status);
});

test("deleted jobs are no longer found", async () => {
  await expectOk(ask("POST", `/w/acme/jobs/completed/delete/${ids.pear}`, {}));
  expect(await found("pear")).toEqual([]);
});

test.each(["", '"', Array(21).fill("x").join(" ")])(
  "a query that has no words, or too many, is refused",
  async (query) => {
    const url = `/srch/w/acme/index/search/job?search_query=${encodeURIComponent(query)}`;
    expect((await ask("GET", url)).status).toBe(400);
  },
);
