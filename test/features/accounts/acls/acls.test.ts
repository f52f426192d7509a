/** Single grants; who may change those of items is in test/acceptance/contract/rights/permissions.test.ts. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { auditLog } from "../../../../src/features/signals/audit/tables.ts";
import { type Ask, deploy, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

let server: TestServer;
const as: Record<string, Ask> = {};

beforeAll(async () => {
  server = await startTestServer();
  as.admin = (await server.workspace()).ask;
  for (const name of ["ann", "bob", "cid"]) as[name] = (await server.member("acme", name)).ask;
  await deploy(as.ann!, "acme", "u/ann/x", "export const main = () => 1");
  await expectOk(as.ann!("POST", "/w/acme/folders/create", { name: "data" }));
  await expectOk(as.ann!("POST", "/w/acme/groups/create", { name: "team" }));
});
afterAll(() => server.stop());

const acl = (who: string, verb: string, what: string, body: object) =>
  as[who]!("POST", `/w/acme/acls/${verb}/${what}`, body);
const entries = async (what: string) => (await as.admin!("GET", `/w/acme/acls/get/${what}`)).json();

test("grants stay on a script through deployments and apply to all its versions", async () => {
  const { hash } = (await as.ann!("GET", "/w/acme/scripts/get/p/u/ann/x")).json();
  await expectOk(acl("ann", "add", "script/u/ann/x", { owner: "u/bob" }));
  const given = await acl("ann", "add", "script/u/ann/x", { owner: "u/cid", write: true });
  expect(given.text).toBe("u/cid may write script u/ann/x");
  const content = "export const main = () => 2";
  const body = { path: "u/ann/x", content, language: "bun", lock: "", parent_hash: hash };
  await expectOk(as.cid!("POST", "/w/acme/scripts/create", body));
  expect(await entries("script/u/ann/x")).toEqual({ "u/bob": false, "u/cid": true });
  const got = (await as.bob!("GET", "/w/acme/scripts/get/p/u/ann/x")).json();
  expect([got.content, got.extra_perms]).toEqual([content, { "u/bob": false, "u/cid": true }]);
  expect((await as.bob!("POST", `/w/acme/jobs/run/h/${hash}`, {})).status).toBe(201);
  await expectOk(acl("ann", "remove", "script/u/ann/x", { owner: "u/bob" }));
  // Cached versions are invalidated with it.
  expect((await as.bob!("POST", `/w/acme/jobs/run/h/${hash}`, {})).status).toBe(404);
  expect((await as.bob!("POST", "/w/acme/jobs/run/p/u/ann/x", {})).status).toBe(404);
  expect((await as.bob!("GET", `/w/acme/scripts/get/h/${hash}`)).status).toBe(404);
});

test("grants of a folder are given by its owners; those of an owner cannot be reduced", async () => {
  await expectOk(acl("ann", "add", "folder/data", { owner: "u/bob", write: true }));
  expect((await acl("bob", "add", "folder/data", { owner: "u/cid" })).status).toBe(403);
  expect((await acl("cid", "add", "folder/data", { owner: "u/cid" })).status).toBe(404);
  for (const [verb, body] of [
    ["add", { owner: "u/ann", write: false }],
    ["remove", { owner: "u/ann" }],
  ] as const) {
    const answer = await acl("ann", verb, "folder/data", body);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("removeowner first")]);
  }
  expect(await entries("folder/data")).toEqual({ "u/ann": true, "u/bob": true });
});

test("grants of a group give the right to manage it", async () => {
  await expectOk(acl("ann", "add", "group_/team", { owner: "u/bob", write: true }));
  await expectOk(acl("bob", "remove", "group_/team", { owner: "u/ann" }));
  expect((await acl("ann", "add", "group_/team", { owner: "u/ann", write: true })).status).toBe(403);
  expect(await entries("group_/team")).toEqual({ "u/bob": true });
});

test.each([
  ["add", "script/u/ann/x", { owner: "u/nobody" }, 400, "there is no user nobody"],
  ["add", "script/u/ann/x", { owner: "g/nothing" }, 400, "there is no group nothing"],
  ["add", "script/u/ann/x", { owner: "bob" }, 400, '"bob" is neither a user nor a group'],
  ["add", "script/u/ann/x", { owner: "f/data" }, 400, "neither a user nor a group"],
  ["add", "script/u/ann/x", {}, 400, "`owner`"],
  ["add", "script/u/ann/x", { owner: "u/bob", write: "yes" }, 400, "`write`"],
  ["remove", "script/u/ann/x", { owner: "g/team" }, 400, "g/team has no grant of script u/ann/x"],
  ["add", "script/u/ann/none", { owner: "u/bob" }, 404, "script u/ann/none"],
  ["add", "flow/u/ann/x", { owner: "u/bob" }, 404, "flow u/ann/x"],
  ["add", "folder/none", { owner: "u/bob" }, 404, "folder none"],
  ["add", "group_/none", { owner: "u/bob" }, 404, "group none"],
  ["add", "thing/u/ann/x", { owner: "u/bob" }, 400, '"thing" is not a kind'],
  ["add", "constructor/u/ann/x", { owner: "u/bob" }, 400, '"constructor" is not a kind'],
] as const)("%s %s %p is refused and says why", async (verb, what, body, status, message) => {
  const answer = await acl("admin", verb, what, body);
  expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(message)]);
});

test("grants can be given to everybody by the group all", async () => {
  await expectOk(acl("ann", "add", "script/u/ann/x", { owner: "g/all" }));
  expect((await as.bob!("GET", "/w/acme/scripts/get/p/u/ann/x")).status).toBe(200);
});

test("grants store audit rows with the grantee and the right", async () => {
  const rows = await server.server.app.db.read.select().from(auditLog);
  expect(rows.find(({ operation }) => operation === "acls.add")).toMatchObject({
    resource: "u/ann/x",
    username: "ann",
    parameters: { kind: "script", owner: "u/bob", write: "false" },
  });
  for (const [kind, resource] of [
    ["folder", "data"],
    ["group_", "team"],
  ]) {
    expect(rows.find((row) => row.operation === "acls.add" && row.resource === resource)).toMatchObject({
      parameters: { kind, owner: "u/bob", write: "true" },
    });
  }
  expect(rows.find(({ operation }) => operation === "acls.remove")).toMatchObject({
    resource: "u/ann/x",
    parameters: { kind: "script", owner: "u/bob" },
  });
});

test("grants are matched by the whole name of the grantee", async () => {
  await server.member("acme", "bobby");
  await expectOk(
    as.ann!("POST", "/w/acme/folders/create", { name: "long", extra_perms: { "u/bobby": true } }),
  );
  expect((await as.bob!("GET", "/w/acme/folders/get/long")).status).toBe(404);
  await expectOk(as.ann!("POST", "/w/acme/folders/create", { name: "da" }));
  const variable = { path: "f/data/v", value: "1", is_secret: false, description: "" };
  await expectOk(as.ann!("POST", "/w/acme/variables/create", variable));
  await expectOk(acl("ann", "add", "folder/da", { owner: "u/cid" }));
  expect((await as.cid!("GET", "/w/acme/variables/list")).json()).toEqual([]);
});
