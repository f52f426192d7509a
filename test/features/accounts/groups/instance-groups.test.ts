import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";
import { license } from "../../../support/peers/license.ts";

let server: TestServer;
const as: Record<string, Ask> = {};

beforeAll(async () => {
  server = await startTestServer();
  await license(server);
  as.root = (await server.user("root", { super_admin: true })).ask;
  as.admin = (await server.workspace()).ask;
  as.ann = (await server.member("acme", "ann")).ask;
});
afterAll(() => server.stop());

const post = (path: string, body: object = {}) => as.root!("POST", `/groups/${path}`, body);
const get = (path: string) => as.root!("GET", `/groups/${path}`);
const ANN = "ann@example.org";

test("members of an instance group have its rights in each of their workspaces at once", async () => {
  expect((await post("create", { name: "staff", summary: "Who works here" })).status).toBe(200);
  await expectOk(as.admin!("POST", "/w/acme/folders/create", { name: "data", owners: [] }));
  const variable = { path: "f/data/x", value: "1", is_secret: false, description: "" };
  await expectOk(as.admin!("POST", "/w/acme/variables/create", variable));
  await expectOk(as.admin!("POST", "/w/acme/acls/add/folder/data", { owner: "g/staff" }));
  const reads = async () => (await as.ann!("GET", "/w/acme/variables/get/f/data/x")).status;
  const names = async (query = "") => (await as.ann!("GET", `/w/acme/groups/listnames${query}`)).json();
  expect([await reads(), await names(), await names("?only_member_of=true")]).toEqual([
    404,
    ["all", "staff"],
    ["all"],
  ]);
  await expectOk(post("adduser/staff", { email: "Ann@Example.org" }));
  expect((await get("get/staff")).json()).toEqual({
    name: "staff",
    summary: "Who works here",
    emails: [ANN],
  });
  expect([await reads(), await names("?only_member_of=true")]).toEqual([200, ["all", "staff"]]);
  // No group of the workspace can be created with the same name.
  expect((await as.ann!("POST", "/w/acme/groups/create", { name: "staff" })).status).toBe(400);
  await expectOk(post("removeuser/staff", { email: ANN }));
  expect(await reads()).toBe(404);
  await expectOk(post("adduser/staff", { email: ANN }));
  expect(await reads()).toBe(200);
  await expectOk(as.root!("DELETE", "/groups/delete/staff"));
  expect([await reads(), (await get("get/staff")).status]).toEqual([404, 404]);
  // The folder still refers to its name.
  expect((await as.ann!("POST", "/w/acme/groups/create", { name: "staff" })).status).toBe(403);
});

test("all groups can be exported and overwritten", async () => {
  await expectOk(post("create", { name: "old" }));
  const given = [
    { name: "a", summary: "A", emails: [ANN], id: "1", scim_display_name: "The A", external_id: "x-1" },
    { name: "b" },
  ];
  await expectOk(as.root!("POST", "/groups/overwrite", given));
  const none = { id: null, scim_display_name: null, external_id: null };
  const expected = [given[0], { name: "b", summary: "", emails: [], ...none }];
  expect((await get("export")).json()).toEqual(expected);
  expect((await get("list")).json()).toEqual([
    { name: "a", summary: "A", emails: [ANN] },
    { name: "b", summary: "", emails: [] },
  ]);
  await expectOk(as.root!("POST", "/groups/overwrite", expected));
  expect((await get("export")).json()).toEqual(expected);
  await expectOk(post("update/b", { new_summary: "B" }));
  expect((await get("get/b")).json().summary).toBe("B");
  const twice = await as.root!("POST", "/groups/overwrite", [{ name: "c" }, { name: "c" }]);
  expect([twice.status, twice.text]).toEqual([400, expect.stringContaining("group c is in the list twice")]);
});

test.each([
  ["create", { name: "all" }, 400, '"all" is the group of everybody'],
  ["create", { name: "a b" }, 400, '"a b" cannot be a group'],
  ["create", { name: "a" }, 400, "there is a group a of the instance already"],
  ["adduser/a", { email: "no@example.org" }, 404, "user no@example.org"],
  ["adduser/a", { email: "no" }, 400, "not an e-mail address"],
  ["adduser/none", { email: ANN }, 404, "group none of the instance"],
  ["removeuser/b", { email: ANN }, 404, "in group b"],
  ["overwrite", [{ name: "x", emails: ["no"] }], 400, "not an e-mail address"],
])("%s %p is refused and says why", async (path, body, status, message) => {
  const answer = await as.root!("POST", `/groups/${path}`, body);
  expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(message)]);
});

test("only super admins change and export groups; every user reads them", async () => {
  expect((await as.admin!("GET", "/groups/export")).status).toBe(403);
  expect((await as.admin!("GET", "/groups/list")).status).toBe(200);
  expect((await as.admin!("GET", "/groups/get/nothing")).status).toBe(404);
  expect((await as.admin!("POST", "/groups/create", { name: "mine" })).status).toBe(403);
});

test("without a license groups can be read, but neither changed nor exported", async () => {
  await expectOk(post("create", { name: "kept", summary: "Stays" }));
  await expectOk(post("adduser/kept", { email: ANN }));
  await expectOk(server.operator("POST", "/settings/global/license_key", { value: null }));
  for (const answer of [
    await post("create", { name: "more" }),
    await post("update/kept", { summary: "x" }),
    await post("adduser/kept", { email: ANN }),
    await post("removeuser/kept", { email: ANN }),
    await as.root!("DELETE", "/groups/delete/kept"),
    await get("export"),
    await post("overwrite", []),
  ]) {
    expect([answer.status, answer.text]).toEqual([403, expect.stringContaining("Enterprise Edition")]);
  }
  const kept = { name: "kept", summary: "Stays", emails: [ANN] };
  for (const by of [as.root!, as.admin!, as.ann!]) {
    expect((await expectOk(by("GET", "/groups/list"))).json()).toContainEqual(kept);
    expect((await expectOk(by("GET", "/groups/get/kept"))).json()).toEqual(kept);
  }
  expect((await as.ann!("GET", "/groups/get/nothing")).status).toBe(404);
  expect((await fetch(`${server.url}/api/groups/list`)).status).toBe(401);
  expect((await as.ann!("GET", "/w/acme/users/whoami")).json().groups).toContain("kept");
});
