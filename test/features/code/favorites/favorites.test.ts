import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Ask, deploy, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

let server: TestServer;
const as: Record<string, Ask> = {};
const FLOW = { summary: "", value: { modules: [{ id: "a", value: { type: "identity" } }] } };

beforeAll(async () => {
  server = await startTestServer();
  as.admin = (await server.workspace()).ask;
  as.ann = (await server.member("acme", "ann")).ask;
  as.operator = (await server.member("acme", "ops", "operator")).ask;
  await expectOk(
    as.admin("POST", "/w/acme/folders/create", {
      name: "data",
      owners: ["u/ann"],
      extra_perms: { "g/all": false },
    }),
  );
  for (const name of ["one", "two"]) {
    await deploy(as.admin, "acme", `f/data/${name}`, "export const main = () => 1");
    await expectOk(as.admin("POST", "/w/acme/flows/create", { ...FLOW, path: `f/data/${name}` }));
    const policy = { execution_mode: "viewer" };
    await expectOk(
      as.admin("POST", "/w/acme/apps/create", { path: `f/data/${name}`, value: {}, summary: "", policy }),
    );
    await expectOk(as.admin("POST", "/w/acme/raw_apps/create", { path: `f/data/${name}`, value: "1" }));
  }
  await deploy(as.admin, "acme", "u/admin/own", "export const main = () => 1");
});
afterAll(() => server.stop());

const star = (who: string, favorite_kind: string, path: string, verb = "star") =>
  as[who]!("POST", `/w/acme/favorites/${verb}`, { favorite_kind, path });
const starred = async (who: string, kind: string, query = "starred_only=true") =>
  ((await as[who]!("GET", `/w/acme/${kind}s/list?${query}`)).json() as { path: string; starred: boolean }[])
    .filter((item) => item.starred)
    .map(({ path }) => path);

test.each(["script", "flow", "app"])(
  "a starred %s is marked in lists and found by its star, by the user who starred it",
  async (kind) => {
    const got = kind === "flow" ? "flows/get" : `${kind}s/get/p`;
    const answer = await star("operator", kind, "f/data/one");
    expect([answer.status, answer.text]).toEqual([200, `starred ${kind} f/data/one`]);
    await expectOk(star("operator", kind, "f/data/one"));
    expect(await starred("operator", kind)).toEqual(["f/data/one"]);
    expect(await starred("operator", kind, "")).toEqual(["f/data/one"]);
    expect((await as.operator!("GET", `/w/acme/${kind}s/list`)).json()).toHaveLength(2);
    expect(await starred("ann", kind)).toEqual([]);
    const info = async (query: string) =>
      (await as.operator!("GET", `/w/acme/${got}/f/data/one${query}`)).json().starred;
    expect([await info("?with_starred_info=true"), (await info("")) ?? false]).toEqual([true, false]);
    await expectOk(star("operator", kind, "f/data/one", "unstar"));
    await expectOk(star("operator", kind, "f/data/one", "unstar"));
    expect(await starred("operator", kind)).toEqual([]);
    expect(await info("?with_starred_info=true")).toBe(false);
  },
);

test("a star stays on a renamed app and bundle; lists of bundles show it", async () => {
  for (const kind of ["app", "raw_app"]) {
    await expectOk(star("ann", kind, "f/data/two"));
    await expectOk(as.ann!("POST", `/w/acme/${kind}s/update/f/data/two`, { path: "f/data/three" }));
    expect(await starred("ann", kind, "")).toEqual(["f/data/three"]);
  }
});

test("a star stays on a renamed flow", async () => {
  await expectOk(star("ann", "flow", "f/data/two"));
  await expectOk(as.ann!("POST", "/w/acme/flows/update/f/data/two", { ...FLOW, path: "f/data/three" }));
  expect(await starred("ann", "flow")).toEqual(["f/data/three"]);
});

test("starred items that are no longer readable are in no list", async () => {
  await expectOk(as.admin!("POST", "/w/acme/acls/add/script/u/admin/own", { owner: "u/ann" }));
  await expectOk(star("ann", "script", "u/admin/own"));
  expect(await starred("ann", "script")).toEqual(["u/admin/own"]);
  await expectOk(as.admin!("POST", "/w/acme/acls/remove/script/u/admin/own", { owner: "u/ann" }));
  expect(await starred("ann", "script")).toEqual([]);
});

test.each([
  ["script", "f/data/none", 404, "script f/data/none"],
  ["script", "u/admin/own", 404, "script u/admin/own"],
  ["app", "f/data/none", 404, "app f/data/none"],
  ["variable", "f/data/one", 400, "`favorite_kind`"],
] as const)("no star is given to %s %s", async (kind, path, status, message) => {
  const answer = await star("ann", kind, path);
  expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(message)]);
});
