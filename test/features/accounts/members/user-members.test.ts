/**
 * Members of a workspace: what they see of each other, what admins change, and what happens when one leaves.
 */
import { expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { workspaceInvites, workspaces } from "../../../../src/features/tenancy/workspaces/tables.ts";
import { type Ask, deploy, expectOk } from "../../../support/harness.ts";
import { addMember, admin, server, setUpMembers } from "./members-setup.ts";

setUpMembers();

test("members can read the list of members", async () => {
  const ann = await server.member("acme", "ann");
  const root = await server.user("root", { super_admin: true });
  const record = {
    workspace_id: "acme",
    email: "ann@example.org",
    username: "ann",
    is_admin: false,
    is_super_admin: false,
    operator: false,
    disabled: false,
    groups: ["all"],
    folders: [],
    folders_read: ["app_custom", "app_groups", "app_themes"],
    folders_owners: [],
    created_at: expect.any(String),
  };
  expect((await ann.ask("GET", "/w/acme/users/whoami")).json()).toEqual(record);
  expect((await ann.ask("GET", "/w/acme/users/whois/ann")).json()).toEqual(record);
  expect((await admin("GET", "/w/acme/users/get/ann")).json()).toEqual(record);
  expect((await ann.ask("GET", "/w/acme/users/get/ann")).status).toBe(403);
  expect((await ann.ask("GET", "/w/acme/users/list")).json()).toContainEqual(record);
  expect((await ann.ask("GET", "/w/acme/users/list_usernames")).json()).toEqual(["admin", "ann"]);
  expect((await ann.ask("GET", "/w/acme/users/username_to_email/admin")).text).toBe("admin_acme@example.org");
  for (const path of ["whois/nobody", "username_to_email/nobody"]) {
    const answer = await ann.ask("GET", `/w/acme/users/${path}`);
    expect([answer.status, answer.text]).toEqual([404, "Not found: user nobody in workspace acme"]);
  }
  const above = (await root.ask("GET", "/w/acme/users/whoami")).json();
  expect(above).toMatchObject({ username: "root@example.org", is_admin: true, is_super_admin: true });
});

test.each([
  ["u/olga/hello", true, true],
  ["u/ann/hello", false, true],
  ["u/olgas/hello", false, true],
  ["f/data/hello", false, true],
])("is_owner %s: %p for olga, %p for an admin", async (path, own, all) => {
  const olga = await addMember("olga");
  expect((await olga("GET", `/w/acme/users/is_owner/${path}`)).json()).toBe(own);
  expect((await admin("GET", `/w/acme/users/is_owner/${path}`)).json()).toBe(all);
});

test("usage is a job's seconds plus one, without flows; by workspace for a week, by user for a month", async () => {
  const ask = await addMember("uma");
  await deploy(ask, "acme", "u/uma/one", "export function main() { return 1; }");
  for (let n = 0; n < 3; n++) await expectOk(ask("POST", "/w/acme/jobs/run_wait_result/p/u/uma/one", {}));
  const usage = (await ask("GET", "/w/acme/users/list_usage")).json<
    { email: string; executions: number }[]
  >();
  const own = usage.find(({ email }) => email === "uma@example.org")!;
  // The dependency job of the deployment is one of them.
  expect(own.executions).toBeGreaterThanOrEqual(3);
  expect(usage.map(({ email }) => email)).toContain("admin_acme@example.org");
  expect((await ask("GET", "/users/usage")).json()).toBe(own.executions);
  const { app } = server.server;
  const { clock } = app;
  try {
    Object.assign(app, { clock: () => new Date(Date.now() + 40 * 86_400_000) });
    expect((await ask("GET", "/users/usage")).json()).toBe(0);
    const later = (await ask("GET", "/w/acme/users/list_usage")).json();
    expect(later).toContainEqual({ email: "uma@example.org", executions: 0 });
  } finally {
    Object.assign(app, { clock });
  }
});

test("a changed role applies at once", async () => {
  const { ask } = await server.member("acme", "cora");
  const update = (change: object) => admin("POST", "/w/acme/users/update/cora", change);
  const variable = { path: "u/cora/x", value: "1", is_secret: false, description: "" };
  const cases: [change: object, path: string, method: string, status: number][] = [
    [{ is_admin: true }, "/w/acme/users/get/admin", "GET", 200],
    [{ is_admin: false }, "/w/acme/users/get/admin", "GET", 403],
    [{ operator: true }, "/w/acme/variables/create", "POST", 403],
    [{ operator: false }, "/w/acme/variables/create", "POST", 201],
    [{ disabled: true }, "/w/acme/users/whoami", "GET", 401],
    [{ disabled: false }, "/w/acme/users/whoami", "GET", 200],
  ];
  for (const [change, path, method, status] of cases) {
    expect((await update(change)).status).toBe(200);
    expect([change, (await ask(method, path, method === "POST" ? variable : undefined)).status]).toEqual([
      change,
      status,
    ]);
  }
  const rows = (await admin("GET", "/w/acme/audit/list?operation=users.update")).json();
  expect(rows[0]).toMatchObject({ resource: "cora", username: "admin", parameters: { disabled: "false" } });
});

test.each([
  ["nothing", "cora2", {}, 400, "nothing to change"],
  ["text for a flag", "cora2", { disabled: "yes" }, 400, "`disabled`"],
  ["an admin who is an operator", "cora2", { is_admin: true, operator: true }, 400, "admin and an operator"],
  ["nobody", "nobody", { disabled: true }, 404, "user nobody in workspace acme"],
])("updating %s of a member is refused with the reason", async (_, name, change, status, message) => {
  await addMember("cora2");
  const answer = await admin("POST", `/w/acme/users/update/${name}`, change);
  expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(message)]);
});

test("a super admin may remove or demote themselves even as the last admin, and keeps access", async () => {
  const { ask, email } = await server.user("pusher", { super_admin: true });
  await expectOk(ask("POST", "/workspaces/create", { id: "pushed", name: "pushed", username: "pusher" }));
  await expectOk(ask("POST", "/w/pushed/users/update/pusher", { is_admin: false }));
  await expectOk(ask("DELETE", "/w/pushed/users/delete/pusher"));
  await expectOk(ask("POST", "/w/pushed/workspaces/add_user", { email, is_admin: true, operator: false }));
  const root = await server.user("other_root", { super_admin: true });
  // Their account is a separate matter: deleting it would leave the workspace without members.
  const refused = await root.ask("DELETE", `/users/delete/${email}`);
  expect([refused.status, refused.text]).toEqual([
    400,
    expect.stringContaining("last admin of workspace pushed"),
  ]);
  await expectOk(root.ask("DELETE", "/w/pushed/users/delete/pusher"));
});

test("the last enabled admin cannot be removed, disabled or demoted", async () => {
  const { ask } = await server.workspace("lone");
  const other = await server.member("lone", "second", "admin");
  await expectOk(ask("POST", "/w/lone/users/update/second", { disabled: true }));
  const ways: [method: string, path: string, body?: object][] = [
    ["POST", "/w/lone/users/update/admin", { is_admin: false }],
    ["POST", "/w/lone/users/update/admin", { disabled: true }],
    ["DELETE", "/w/lone/users/delete/admin"],
  ];
  const everyway: [asked: Ask, ...(typeof ways)[number]][] = [
    ...ways.map((way): [Ask, ...typeof way] => [ask, ...way]),
    [server.operator, "DELETE", "/users/delete/admin_lone@example.org"],
  ];
  for (const [asked, ...way] of everyway) {
    const answer = await asked(...way);
    expect([answer.status, answer.text]).toEqual([
      400,
      expect.stringContaining("last admin of workspace lone"),
    ]);
  }
  await expectOk(ask("POST", "/w/lone/users/update/second", { disabled: false }));
  const both = await Promise.all([
    ask("POST", "/w/lone/users/update/admin", { is_admin: false }),
    other.ask("POST", "/w/lone/users/update/second", { is_admin: false }),
  ]);
  expect(both.map(({ status }) => status).sort()).toEqual([200, 400]);
});

test("invites are listed, accepted and declined by the invited", async () => {
  const { db } = server.server.app;
  await server.workspace("gone");
  await db.write(async (tx) => {
    const invite = { operator: false, is_admin: false, created_at: new Date() };
    for (const [workspace_id, email, more] of [
      ["acme", "ida@example.org", { operator: true }],
      ["lone2", "ida@example.org", { is_admin: true }],
      ["gone", "ida@example.org", {}],
      ["acme", "jon@example.org", {}],
    ] as const) {
      await tx.insert(workspaceInvites).values({ ...invite, ...more, workspace_id, email });
    }
    await tx.update(workspaces).set({ archived: true }).where(eq(workspaces.id, "gone"));
  });
  await server.workspace("lone2");
  const ida = await server.user("ida");
  expect((await ida.ask("GET", "/users/list_invites")).json()).toEqual([
    { workspace_id: "acme", email: "ida@example.org", is_admin: false, operator: true },
    { workspace_id: "lone2", email: "ida@example.org", is_admin: true, operator: false },
  ]);
  const accept = (body: object) => ida.ask("POST", "/users/accept_invite", body);
  for (const [body, status, message] of [
    [{ workspace_id: "acme", username: "admin" }, 400, "admin is taken in workspace acme"],
    [{ workspace_id: "acme", username: "no name" }, 400, "cannot be a username"],
    [{ workspace_id: "gone" }, 400, "is archived"],
    [{ workspace_id: "none" }, 404, "invite of ida@example.org to workspace none"],
    [{}, 400, "`workspace_id`"],
  ] as const) {
    const answer = await accept(body);
    expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(message)]);
  }
  expect((await ida.ask("GET", "/w/acme/users/whoami")).status).toBe(401);
  expect((await expectOk(accept({ workspace_id: "acme", username: "idachen" }))).text).toContain(
    "as idachen",
  );
  expect((await ida.ask("GET", "/w/acme/users/whoami")).json()).toMatchObject({
    username: "idachen",
    operator: true,
    is_admin: false,
  });
  expect((await accept({ workspace_id: "acme" })).status).toBe(404);
  await expectOk(ida.ask("POST", "/users/decline_invite", { workspace_id: "lone2" }));
  expect((await ida.ask("POST", "/users/decline_invite", { workspace_id: "lone2" })).status).toBe(404);
  expect((await ida.ask("GET", "/users/list_invites")).json()).toEqual([]);
});

test("a user who joins without a username gets the next free one", async () => {
  const { db } = server.server.app;
  await addMember("kim");
  const kim = await server.user("kim2");
  await db.write(async (tx) => {
    const { users } = await import("../../../../src/features/tenancy/people/user-tables.ts");
    await tx.update(users).set({ username: "kim" }).where(eq(users.email, kim.email));
    const row = { workspace_id: "acme", email: kim.email, is_admin: false, operator: false };
    await tx.insert(workspaceInvites).values({ ...row, created_at: new Date() });
  });
  await expectOk(kim.ask("POST", "/users/accept_invite", { workspace_id: "acme" }));
  expect((await kim.ask("GET", "/w/acme/users/whoami")).json().username).toBe("kim2");
});
