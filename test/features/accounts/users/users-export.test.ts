/** Export of all users and import into another instance: with their passwords, all or none. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { oauthLogins } from "../../../../src/features/assets/account-tables.ts";
import { type Ask, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";
import { license } from "../../../support/peers/license.ts";

let server: TestServer;
let ask: Ask;

beforeEach(async () => {
  server = await startTestServer();
  ask = (await server.user("root", { super_admin: true })).ask;
  await license(server);
});
afterEach(() => server.stop());

const exported = async (from: Ask = ask) => (await expectOk(from("GET", "/users/export"))).json();
const login = (of: TestServer, name: string) =>
  of.as(undefined)("POST", "/auth/login", { email: `${name}@example.org`, password: `${name}-password` });

test("exported users log in on another instance with their passwords", async () => {
  await server.user("ann");
  await expectOk(login(server, "ann"));
  const list = await exported();
  expect(list.map((user: any) => user.email)).toEqual(["ann@example.org", "root@example.org"]);
  expect(list[0].password_hash).toStartWith("$argon2id$");
  expect(list[0]).toMatchObject({
    super_admin: false,
    verified: true,
    first_time_user: false,
    username: "ann",
    login_type: "password",
  });
  await using other = await startTestServer();
  await license(other);
  const before = await other.user("gone");
  const answer = await expectOk(other.operator("POST", "/users/overwrite", list));
  expect(answer.text).toBe("there are 2 users now; 1 of those before are gone");
  expect(await exported(other.operator)).toEqual(list);
  expect((await login(other, "ann")).status).toBe(200);
  expect((await login(other, "gone")).status).toBe(400);
  expect((await before.ask("GET", "/users/whoami")).status).toBe(401);
});

test("users in both lists keep their tokens and creation time, with their new rights", async () => {
  const { users } = await import("../../../../src/features/tenancy/people/user-tables.ts");
  const days = async () => {
    const rows = await server.server.app.db.read
      .select({ email: users.email, created_at: users.created_at })
      .from(users);
    return new Map(rows.map((row) => [row.email, row.created_at.getTime()]));
  };
  const ann = await server.user("ann", { super_admin: true });
  expect((await ann.ask("GET", "/settings/list_global")).status).toBe(200);
  const list = await exported();
  const before = await days();
  list[0].super_admin = false;
  list.push({
    ...list[0],
    email: "New@Example.org",
    username: "new",
    password_hash: null,
    login_type: "github",
  });
  await expectOk(ask("POST", "/users/overwrite", list));
  expect((await ann.ask("GET", "/users/whoami")).json()).toMatchObject({ super_admin: false });
  expect((await ann.ask("GET", "/settings/list_global")).status).toBe(403);
  expect((await days()).get("ann@example.org")).toBe(before.get("ann@example.org")!);
  expect((await exported()).map((user: any) => user.email)).toContain("new@example.org");
});

test("a changed password or login type ends sessions; removed users lose their provider accounts", async () => {
  const { db } = server.server.app;
  for (const name of ["ann", "bob", "cid", "dan"]) await server.user(name);
  const sessions = new Map<string, Ask>();
  for (const name of ["ann", "bob", "cid"]) {
    sessions.set(name, server.as((await expectOk(login(server, name))).text));
  }
  const kept = { client: "github", subject: "1", email: "ann@example.org" };
  await db.write((tx) =>
    tx.insert(oauthLogins).values([kept, { client: "github", subject: "2", email: "dan@example.org" }]),
  );
  const list = (await exported()).filter((user: any) => user.email !== "dan@example.org");
  const at = (name: string) => list.find((user: any) => user.email === `${name}@example.org`);
  at("bob").password_hash = at("ann").password_hash;
  at("cid").login_type = "github";
  await expectOk(ask("POST", "/users/overwrite", list));
  const answers = [...sessions].map(async ([name, own]) => [
    name,
    (await own("GET", "/users/whoami")).status,
  ]);
  expect(await Promise.all(answers)).toEqual([
    ["ann", 200],
    ["bob", 401],
    ["cid", 401],
  ]);
  expect(await db.read.select().from(oauthLogins)).toEqual([kept]);
});

describe("an invalid list is rejected as a whole", () => {
  test.each([
    ["with a user twice", (list: any[]) => [...list, { ...list[0], email: "ROOT@example.org" }], "twice"],
    [
      "with an address that is none",
      (list: any[]) => [...list, { ...list[0], email: "x" }],
      "e-mail address",
    ],
    [
      "with a password instead of its hash",
      (list: any[]) => [{ ...list[0], password_hash: "secret" }],
      "hash by argon2",
    ],
    [
      "without a super admin",
      (list: any[]) => [{ ...list[0], super_admin: false }],
      "nobody could administer",
    ],
    [
      "whose super admin cannot log in",
      (list: any[]) => [{ ...list[0], password_hash: null }],
      "nobody could",
    ],
    ["that is empty", () => [], "nobody could administer"],
    [
      "with a name twice",
      (list: any[]) => [...list, { ...list[0], email: "a@example.org" }],
      "username root is in the list twice: of root@example.org and a@example.org",
    ],
    ["with a name that is none", (list: any[]) => [{ ...list[0], username: "1st" }], "cannot be a username"],
    ["without what is needed", () => [{ email: "a@b.c" }], "super_admin"],
    ["that is not a list", () => ({}), "body"],
  ])("%s", async (_, change, text) => {
    const list = await exported();
    const answer = await ask("POST", "/users/overwrite", change(structuredClone(list)));
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(text)]);
    expect(answer.text).not.toContain("argon2id$");
    expect(await exported()).toEqual(list);
  });
});

test("export and overwrite need a license and a super admin, and store audit rows without hashes", async () => {
  const { ask: userAsk } = await server.user("ann");
  expect((await userAsk("GET", "/users/export")).status).toBe(403);
  expect((await userAsk("POST", "/users/overwrite", [])).status).toBe(403);
  const list = await exported();
  await expectOk(ask("POST", "/users/overwrite", list));
  const { auditLog } = await import("../../../../src/features/signals/audit/tables.ts");
  const rows = await server.server.app.db.read.select().from(auditLog);
  const written = rows.filter(({ operation }) => /^users\.(export|overwrite)$/.test(operation));
  expect(written.map(({ operation, email }) => [operation, email])).toEqual([
    ["users.export", "root@example.org"],
    ["users.overwrite", "root@example.org"],
  ]);
  expect(JSON.stringify(rows)).not.toContain("argon2id");
  await expectOk(ask("POST", "/settings/global/license_key", { value: null }));
  for (const [method, path, body] of [
    ["GET", "/users/export", undefined],
    ["POST", "/users/overwrite", list],
  ] as const) {
    const answer = await ask(method, path, body);
    expect([answer.status, answer.headers.get("svc-error")]).toEqual([403, "EnterpriseRequired"]);
  }
});
