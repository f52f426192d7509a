/** Explanations of rights on an item agree with the rights that the server enforces. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { type Ask, deploy, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

let server: TestServer;
const as: Record<string, Ask> = {};

beforeAll(async () => {
  server = await startTestServer();
  as.admin = (await server.workspace()).ask;
  for (const name of ["ann", "bob", "cid", "dan", "eve", "fay"])
    as[name] = (await server.member("acme", name)).ask;
  await expectOk(as.ann!("POST", "/w/acme/folders/create", { name: "data" }));
  await expectOk(as.admin!("POST", "/w/acme/groups/create", { name: "team" }));
  await expectOk(as.admin!("POST", "/w/acme/groups/adduser/team", { username: "bob" }));
  await expectOk(as.ann!("POST", "/w/acme/acls/add/folder/data", { owner: "g/team", write: true }));
  await expectOk(as.ann!("POST", "/w/acme/acls/add/folder/data", { owner: "u/eve", write: true }));
  await deploy(as.ann!, "acme", "f/data/x", "export const main = () => 1");
  await expectOk(as.ann!("POST", "/w/acme/acls/add/script/f/data/x", { owner: "u/cid" }));
  await expectOk(as.ann!("POST", "/w/acme/acls/add/script/f/data/x", { owner: "u/bob" }));
  await expectOk(as.admin!("POST", "/w/acme/users/update/eve", { operator: true }));
  await expectOk(as.admin!("POST", "/w/acme/users/update/fay", { disabled: true }));
});
afterAll(() => server.stop());

const explain = async (who: string, item: string) =>
  (await expectOk(as[who]!("GET", `/w/acme/acls/explain/${item}`))).json<any[]>();

test("names each right's source: role, path, folder, group, the item itself", async () => {
  const found = Object.fromEntries(
    (await explain("ann", "script/f/data/x")).map(({ username, ...rest }) => [username, rest]),
  );
  const by = (by: string, right: string, grantee?: string) => ({ by, right, ...(grantee && { grantee }) });
  expect(found).toEqual({
    // The creator of a group is a member.
    admin: {
      right: "owner",
      operator: false,
      reasons: [by("admin", "owner"), by("folder", "write", "g/team")],
    },
    ann: { right: "owner", operator: false, reasons: [by("folder", "owner", "u/ann")] },
    bob: {
      right: "write",
      operator: false,
      reasons: [by("folder", "write", "g/team"), by("item", "read", "u/bob")],
    },
    cid: { right: "read", operator: false, reasons: [by("item", "read", "u/cid")] },
    // Operators read and run, whatever they are granted.
    eve: { right: "read", operator: true, reasons: [by("folder", "write", "u/eve")] },
  });
});

test("the explanation agrees with what the server allows", async () => {
  const said = new Map(
    (await explain("admin", "script/f/data/x")).map(({ username, right }) => [username, right]),
  );
  for (const who of ["ann", "bob", "cid", "dan", "eve"]) {
    const right = said.get(who);
    const seen = await as[who]!("GET", "/w/acme/scripts/get/p/f/data/x");
    expect([who, seen.status]).toEqual([who, right ? 200 : 404]);
    const changed = await as[who]!("POST", "/w/acme/acls/add/script/f/data/x", { owner: "u/cid" });
    expect([who, changed.status < 300]).toEqual([who, right === "write" || right === "owner"]);
  }
});

test("users who may not read an item get 404", async () => {
  expect((await as.dan!("GET", "/w/acme/acls/explain/script/f/data/x")).status).toBe(404);
  expect((await as.ann!("GET", "/w/acme/acls/explain/script/f/data/none")).status).toBe(404);
  expect((await as.ann!("GET", "/w/acme/acls/explain/nothing/f/data/x")).status).toBe(400);
  expect((await as.ann!("GET", "/w/acme/acls/explain/group_/team")).status).toBe(400);
});

test("rights on a folder are explained like those on the items in it", async () => {
  const rights = (await explain("ann", "folder/data")).map(({ username, right }) => [username, right]);
  expect(Object.fromEntries(rights)).toEqual({ admin: "owner", ann: "owner", bob: "write", eve: "read" });
});
