/** Names that could be mistaken for something else: groups, the local admin, other users, keys of objects. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { invalidateMembers } from "../../../../src/features/tenancy/people/members.ts";
import { users } from "../../../../src/features/tenancy/people/user-tables.ts";
import { workspaceMembers } from "../../../../src/features/tenancy/workspaces/tables.ts";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

let server: TestServer;
let admin: Ask;

beforeAll(async () => {
  server = await startTestServer();
  admin = (await server.workspace()).ask;
  await server.member("acme", "ann");
});
afterAll(() => server.stop());

/** An account with a name that earlier versions accepted. */
async function stored(email: string): Promise<Ask> {
  const row = { email, login_type: "password", super_admin: false, verified: true, first_time_user: false };
  await server.server.app.db.write((tx) =>
    tx.insert(users).values({ ...row, password_hash: null, created_at: new Date() } as never),
  );
  const token = await expectOk(
    server.operator("POST", "/users/tokens/impersonate", { impersonate_email: email }),
  );
  return server.as(token.text);
}

test.each(["g/all@example.org", "u/ann@example.org", "operator@localhost", "local-admin@localhost"])(
  "an existing account %s is no group, no local admin, and a member of nothing",
  async (email) => {
    const ask = await stored(email);
    expect((await ask("GET", "/w/acme/users/whoami")).status).toBe(401);
    expect((await ask("GET", "/w/acme/variables/list")).status).toBe(401);
    expect((await ask("GET", "/settings/list_global")).status).toBe(403);
    expect((await ask("GET", "/users/whoami")).json()).toMatchObject({ super_admin: false });
  },
);

test("items created by an account that is named like the local admin run with that account's rights", async () => {
  const email = "operator@localhost";
  const key = { workspace_id: "acme", email, username: "mallory" };
  const row = { ...key, is_admin: false, operator: false, created_at: new Date() };
  await server.server.app.db.write((tx) => tx.insert(workspaceMembers).values(row));
  invalidateMembers(server.server.app);
  const { createTriggerContext } = await import("../../../../src/features/runs/submit/triggered.ts");
  const trigger = { workspace_id: "acme", email, created_by: "x", kind: "http" } as const;
  const { caller } = await createTriggerContext(server.server.app, trigger);
  expect([caller.identity.super_admin, caller.member.is_admin]).toEqual([false, false]);
});

const BAD = [
  "g/ops@example.org",
  "u/ann@example.org",
  "operator@localhost",
  "local-admin@localhost",
  "Operator@LOCALHOST",
  "a b@example.org",
  "a\u200bb@example.org",
  "\u212Aate@example.org",
  "ａnn@example.org",
  "ann@example.org/",
  '"ann"@example.org',
  "ann,bob@example.org",
  "ann@@example.org",
  ".ann@example.org",
];

test.each(BAD)("no account, member or invite can be created for %j", async (email) => {
  const account = { email, password: "long-enough", super_admin: false };
  const role = { email, is_admin: false, operator: false };
  const by = [
    await server.operator("POST", "/users/create", account),
    await admin("POST", "/w/acme/workspaces/add_user", role),
    await admin("POST", "/w/acme/workspaces/invite_user", role),
  ];
  expect(by.map(({ status }) => status)).toEqual([400, 400, 400]);
});

test.each([
  "o'brien+x@example.org",
  "ann.lee@sub.example-domain.org",
  "jürgen@münchen.example",
  "x@localhost",
])("%s is an ordinary address", async (email) => {
  await expectOk(
    server.operator("POST", "/users/create", { email, password: "long-enough", super_admin: false }),
  );
});

test.each([
  ["constructor", "object"],
  ["prototype", "object"],
  ["error_handler", "the server"],
  ["chat", "the server"],
  ["anonymous", "login"],
  ["ANN", "ann@example.org"],
  ["__proto__", "username"],
  ["..", "username"],
  ["g/ops", "username"],
])("nobody gets the username %s", async (username) => {
  const role = { email: "odd@example.org", is_admin: false, operator: false, username };
  expect((await server.operator("POST", "/w/acme/workspaces/add_user", role)).status).toBe(400);
});

test.each(["constructor", "__proto__", "..", ".", "a/b", "g/x"])(
  "no folder, group or workspace is called %s",
  async (name) => {
    const by = [
      await admin("POST", "/w/acme/folders/create", { name }),
      await admin("POST", "/w/acme/groups/create", { name }),
      await server.operator("POST", "/workspaces/create", { id: name, name: "x" }),
    ];
    expect(by.map(({ status }) => status)).toEqual([400, 400, 400]);
  },
);

test("the local part of an address does not become a reserved username", async () => {
  for (const local of ["constructor", "chat", "anonymous"]) {
    const email = `${local}@example.org`;
    const role = { email, is_admin: false, operator: false };
    const made = await expectOk(server.operator("POST", "/w/acme/workspaces/add_user", role));
    expect(made.text).toEndWith(` as u${local}`);
  }
});
