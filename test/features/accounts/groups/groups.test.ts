import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { auditLog } from "../../../../src/features/signals/audit/tables.ts";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

let server: TestServer;
const as: Record<string, Ask> = {};

beforeAll(async () => {
  server = await startTestServer();
  as.admin = (await server.workspace()).ask;
  for (const name of ["ann", "bob", "cid"]) as[name] = (await server.member("acme", name)).ask;
  as.operator = (await server.member("acme", "ops", "operator")).ask;
  as.root = (await server.user("root", { super_admin: true })).ask;
  as.elsewhere = (await server.workspace("elsewhere")).ask;
});
afterAll(() => server.stop());

const post = (who: string, path: string, body: object = {}) =>
  as[who]!("POST", `/w/acme/groups/${path}`, body);
const get = (who: string, path: string) => as[who]!("GET", `/w/acme/groups/${path}`);

describe("a group", () => {
  test("has its creator as member and manager", async () => {
    const answer = await post("ann", "create", { name: "team", summary: "The team" });
    expect([answer.status, answer.text]).toEqual([200, "group team created"]);
    const group = {
      workspace_id: "acme",
      name: "team",
      summary: "The team",
      extra_perms: { "u/ann": true },
    };
    expect((await get("cid", "get/team")).json()).toEqual({ ...group, members: ["ann"] });
    expect((await get("cid", "list")).json()).toContainEqual(group);
    await expectOk(post("ann", "update/team", { summary: "Our team" }));
    expect((await get("cid", "get/team")).json().summary).toBe("Our team");
  });

  test("gets and loses members by its managers", async () => {
    await expectOk(post("ann", "create", { name: "crew" }));
    await expectOk(post("ann", "adduser/crew", { username: "bob" }));
    await expectOk(post("ann", "adduser/crew", { username: "bob" }));
    expect((await get("bob", "get/crew")).json().members).toEqual(["ann", "bob"]);
    // Members do not manage it.
    expect((await post("bob", "adduser/crew", { username: "cid" })).status).toBe(403);
    await expectOk(as.ann!("POST", "/w/acme/acls/add/group_/crew", { owner: "g/crew", write: true }));
    await expectOk(post("bob", "adduser/crew", { username: "cid" }));
    await expectOk(post("bob", "removeuser/crew", { username: "bob" }));
    expect((await post("bob", "adduser/crew", { username: "bob" })).status).toBe(403);
    expect((await get("bob", "get/crew")).json().members).toEqual(["ann", "cid"]);
    expect((await get("cid", "listnames?only_member_of=true")).json()).toEqual(["all", "crew"]);
    expect((await get("bob", "listnames?only_member_of=true")).json()).toEqual(["all"]);
    expect((await post("ann", "removeuser/crew", { username: "bob" })).status).toBe(404);
  });

  test("belongs to its workspace", async () => {
    expect((await as.elsewhere!("GET", "/w/elsewhere/groups/listnames")).json()).toEqual(["all"]);
    expect((await as.elsewhere!("GET", "/w/elsewhere/groups/get/team")).status).toBe(404);
    expect((await as.elsewhere!("GET", "/w/acme/groups/listnames")).status).toBe(401);
  });

  test("is deleted with its grants, which a later group of the same name does not have", async () => {
    await expectOk(post("admin", "create", { name: "gone" }));
    const variable = { path: "u/admin/x", value: "1", is_secret: false, description: "" };
    await expectOk(as.admin!("POST", "/w/acme/variables/create", variable));
    const give = (kind: string, path: string) =>
      expectOk(as.admin!("POST", `/w/acme/acls/add/${kind}/${path}`, { owner: "g/gone", write: true }));
    await give("variable", "u/admin/x");
    await expectOk(as.admin!("POST", "/w/acme/folders/create", { name: "kept", owners: ["g/gone"] }));
    await give("group_", "team");
    await expectOk(as.admin!("DELETE", "/w/acme/groups/delete/gone"));
    expect((await get("ann", "get/gone")).status).toBe(404);
    expect((await as.admin!("GET", "/w/acme/acls/get/variable/u/admin/x")).json()).toEqual({});
    expect((await as.admin!("GET", "/w/acme/folders/get/kept")).json().owners).toEqual([]);
    expect((await get("ann", "get/team")).json().extra_perms).toEqual({ "u/ann": true });
    await expectOk(post("bob", "create", { name: "gone" }));
    expect((await as.bob!("GET", "/w/acme/variables/get/u/admin/x")).status).toBe(404);
  });

  test.each([
    ["has entries", { name: "named", owners: ["g/later"] }, undefined],
    ["has items", undefined, "g/later2/x"],
  ])("whose name still has %s can be created by an admin only", async (_, folder, path) => {
    if (folder) await expectOk(as.admin!("POST", "/w/acme/folders/create", folder));
    const variable = { path, value: "1", is_secret: false, description: "" };
    if (path) await expectOk(as.admin!("POST", "/w/acme/variables/create", variable));
    const name = path ? "later2" : "later";
    const answer = await post("cid", "create", { name });
    expect([answer.status, answer.text]).toEqual([
      403,
      expect.stringContaining("an admin must create the group"),
    ]);
    await expectOk(post("admin", "create", { name }));
  });

  test.each([
    ["create", { name: "team" }, 400, "there is a group team already"],
    ["create", { name: "all" }, 400, "there is a group all already"],
    ["create", { name: "a b" }, 400, '"a b" cannot be a group'],
    ["create", {}, 400, "`name`"],
    ["adduser/team", { username: "nobody" }, 404, "user nobody in workspace acme"],
    ["adduser/team", {}, 400, "`username`"],
    ["adduser/nothing", { username: "bob" }, 404, "group nothing"],
    ["adduser/all", { username: "bob" }, 400, "everybody in it"],
    ["removeuser/all", { username: "bob" }, 400, "everybody in it"],
    ["update/nothing", {}, 404, "group nothing"],
  ])("%s %p is refused with the reason", async (verb, body, status, message) => {
    const answer = await post("admin", verb, body);
    expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(message)]);
  });

  test.each(["ann", "operator", "bob"])("is not managed by users without the right: %s", async (who) => {
    await post("admin", "create", { name: "closed" });
    for (const [verb, body] of [
      ["update/closed", { summary: "mine" }],
      ["adduser/closed", { username: "bob" }],
      ["removeuser/closed", { username: "admin" }],
    ] as const) {
      expect((await post(who, verb, body)).status).toBe(403);
    }
    expect((await as[who]!("DELETE", "/w/acme/groups/delete/closed")).status).toBe(403);
  });

  test("created by a super admin who is not a member is empty", async () => {
    await expectOk(post("root", "create", { name: "above" }));
    expect((await get("ann", "get/above")).json()).toMatchObject({ members: [], extra_perms: {} });
  });
});

describe("the group of everybody", () => {
  test("exists from the start with all members, and cannot be deleted", async () => {
    const all = (await get("ann", "get/all")).json();
    expect(all.members).toEqual(["admin", "ann", "bob", "cid", "ops"]);
    expect((await as.admin!("DELETE", "/w/acme/groups/delete/all")).status).toBe(400);
    expect((await post("ann", "update/all", { summary: "us" })).status).toBe(403);
    await expectOk(post("admin", "update/all", { summary: "us" }));
    expect((await get("ann", "get/all")).json()).toMatchObject({ summary: "us", members: all.members });
    const names = (await get("ann", "listnames")).json() as string[];
    expect(names.filter((name) => name === "all")).toEqual(["all"]);
  });
});

test("every change of a group stores an audit row", async () => {
  const rows = await server.server.app.db.read.select().from(auditLog);
  const told = new Set(rows.map(({ operation }) => operation).filter((name) => name.startsWith("group.")));
  expect([...told].sort()).toEqual([
    "group.adduser",
    "group.create",
    "group.delete",
    "group.edit",
    "group.removeuser",
  ]);
  expect(rows.find(({ operation }) => operation === "group.adduser")).toMatchObject({
    resource: "crew",
    username: "ann",
    parameters: { username: "bob" },
  });
});
