/** Accounts of the instance: what super admins change, and what users change of their own. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { oauthLogins } from "../../../../src/features/assets/account-tables.ts";
import { inputs } from "../../../../src/features/runs/api/inputs/tables.ts";
import { instanceGroupMembers } from "../../../../src/features/tenancy/people/group-tables.ts";
import { users } from "../../../../src/features/tenancy/people/user-tables.ts";
import { tokens } from "../../../../src/features/tenancy/tokens/tables.ts";
import { workspaceInvites } from "../../../../src/features/tenancy/workspaces/tables.ts";
import { jobs } from "../../../../src/platform/queue/tables.ts";
import {
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";

let server: TestServer;
let root: Ask;
let rootToken: string;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask: root, token: rootToken } = await server.user("root", { super_admin: true }));
  await server.workspace();
});
afterAll(() => server.stop());

const login = (name: string, password: string) =>
  server.as(undefined)("POST", "/auth/login", { email: `${name}@example.org`, password });
const whoami = (token: string) => server.as(token)("GET", "/users/whoami");
const cookieOf = (headers: Headers) => /^token=(\w+);/.exec(headers.getSetCookie()[0] ?? "")?.[1];

test("a password set by a super admin ends every session of the user", async () => {
  await server.user("ann");
  const session = (await login("ann", "ann-password")).text;
  const set = await expectOk(
    root("POST", "/users/set_password_of/Ann@example.org", { password: "new-password" }),
  );
  expect(cookieOf(set.headers)).toBeUndefined();
  expect((await whoami(session)).status).toBe(401);
  expect((await login("ann", "ann-password")).status).toBe(400);
  expect((await login("ann", "new-password")).status).toBe(200);
  const own = (await login("root", "root-password")).text;
  const path = "/users/set_password_of/root@example.org";
  const changed = await expectOk(server.as(own)("POST", path, { password: "root-password" }));
  const next = cookieOf(changed.headers)!;
  expect([(await whoami(own)).status, (await whoami(next)).status]).toEqual([401, 200]);
  expect((await whoami(rootToken)).status).toBe(200);
});

test("a restricted token of a super admin manages users without gaining rights", async () => {
  await server.user("kim");
  const created = await expectOk(root("POST", "/users/tokens/create", { scopes: ["users:write"] }));
  const token = server.as(created.text);
  const next = { email: "next@example.org", password: "next-password", super_admin: false };
  const cases: [path: string, body: object, status: number][] = [
    ["/users/set_password_of/root@example.org", { password: "mine-now" }, 403],
    ["/users/set_password_of/kim@example.org", { password: "mine-now" }, 403],
    ["/users/update/kim@example.org", { is_super_admin: true }, 403],
    ["/users/update/kim@example.org", { is_devops: true }, 403],
    ["/users/update/kim@example.org", { name: "Kim" }, 200],
    ["/users/create", { ...next, super_admin: true }, 403],
    ["/users/create", next, 201],
  ];
  for (const [path, body, status] of cases) {
    const answer = await token("POST", path, body);
    expect([path, body, answer.status, answer.text]).toEqual([path, body, status, expect.any(String)]);
  }
  expect((await login("root", "root-password")).status).toBe(200);
  expect((await login("kim", "kim-password")).status).toBe(200);
});

test("a user of a provider has no password until one is set", async () => {
  const { ask } = await server.user("olaf");
  const session = (await login("olaf", "olaf-password")).text;
  const setType = (login_type: string) =>
    root("POST", "/users/set_login_type/olaf@example.org", { login_type });
  await expectOk(setType("github"));
  expect((await whoami(session)).status).toBe(401);
  expect((await ask("GET", "/users/whoami")).json().login_type).toBe("github");
  for (const refused of [
    login("olaf", "olaf-password"),
    ask("POST", "/users/setpassword", { password: "mine-password" }),
    root("POST", "/users/set_password_of/olaf@example.org", { password: "mine-password" }),
    setType("not a name"),
  ]) {
    expect((await refused).status).toBe(400);
  }
  await expectOk(setType("password"));
  expect((await login("olaf", "olaf-password")).status).toBe(400);
  await expectOk(root("POST", "/users/set_password_of/olaf@example.org", { password: "back-password" }));
  expect((await login("olaf", "back-password")).status).toBe(200);
});

test("a changed role on the instance applies at once", async () => {
  const { ask } = await server.user("sam");
  const update = (change: object) => root("POST", "/users/update/sam@example.org", change);
  expect((await ask("GET", "/users/list_as_super_admin")).status).toBe(403);
  await expectOk(update({ is_super_admin: true, name: "Sam" }));
  expect((await ask("GET", "/users/list_as_super_admin")).status).toBe(200);
  expect((await ask("GET", "/w/acme/users/whoami")).json().is_admin).toBe(true);
  await expectOk(update({ is_super_admin: false, is_devops: true }));
  expect((await ask("GET", "/users/list_as_super_admin")).status).toBe(403);
  expect((await ask("GET", "/w/acme/users/whoami")).status).toBe(401);
  expect((await ask("GET", "/users/whoami")).json()).toMatchObject({
    name: "Sam",
    super_admin: false,
    devops: true,
  });
  expect((await update({})).text).toContain("nothing to change");
  expect((await update({ is_super_admin: 1 })).text).toContain("`is_super_admin`");
  expect((await root("POST", "/users/update/no@example.org", { name: "x" })).status).toBe(404);
});

test("the list is sorted by e-mail and paged; active_only selects users with activity", async () => {
  await using own = await startTestServer();
  for (const name of ["cy", "al", "bo"]) await own.user(name, { super_admin: name === "al" });
  await own.workspace("w");
  await own.member("w", "dee", "operator");
  const list = async (query: string) =>
    (await own.operator("GET", `/users/list_as_super_admin${query}`)).json<
      { email: string; operator_only?: boolean }[]
    >();
  const names = async (query: string) => (await list(query)).map(({ email }) => email.split("@")[0]);
  expect(await names("")).toEqual(["admin_w", "al", "bo", "cy", "dee"]);
  expect(await names("?per_page=2&page=2")).toEqual(["bo", "cy"]);
  expect((await own.operator("GET", "/users/list_as_super_admin?per_page=0")).status).toBe(400);
  expect((await list(""))[1]).toEqual({
    email: "al@example.org",
    login_type: "password",
    super_admin: true,
    devops: false,
    verified: true,
    name: null,
    company: null,
    username: "al",
    first_time_user: true,
  } as never);
  const old = new Date(Date.now() - 31 * 86_400_000);
  await own.server.app.db.write(async (tx) => {
    await tx.update(tokens).set({ last_used_at: old });
    await tx.update(tokens).set({ last_used_at: new Date() }).where(eq(tokens.email, "dee@example.org"));
  });
  await expectOk(
    own.as(undefined)("POST", "/auth/login", { email: "bo@example.org", password: "bo-password" }),
  );
  await own.server.app.db.write(
    async (tx) => void (await tx.delete(tokens).where(eq(tokens.kind, "session"))),
  );
  expect((await list("?active_only=true")).map(({ email, operator_only }) => [email, operator_only])).toEqual(
    [
      ["bo@example.org", false],
      ["dee@example.org", true],
    ],
  );
});

test("the last super admin cannot be removed or demoted", async () => {
  await using own = await startTestServer();
  const { ask } = await own.user("only", { super_admin: true });
  for (const [method, path, body] of [
    ["POST", "/users/update/only@example.org", { is_super_admin: false }],
    ["DELETE", "/users/delete/only@example.org"],
    ["POST", "/users/leave_instance"],
  ] as const) {
    const answer = await ask(method, path, body);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("last super admin")]);
  }
  await own.user("second", { super_admin: true });
  await expectOk(ask("POST", "/users/leave_instance"));
});

test("a deleted account loses its tokens, invites and runs in all workspaces", async () => {
  const { ask, token } = await server.member("acme", "dan");
  const boss = await server.user("boss", { super_admin: true });
  const session = (await login("dan", "dan-password")).text;
  const { db } = server.server.app;
  await db.write(async (tx) => {
    const invite = { workspace_id: "elsewhere", email: "dan@example.org", is_admin: false, operator: false };
    await tx.insert(workspaceInvites).values({ ...invite, created_at: new Date() });
    await tx.insert(instanceGroupMembers).values({ name: "staff", email: "dan@example.org" });
    await tx.insert(oauthLogins).values({ client: "github", subject: "1", email: "dan@example.org" });
  });
  await expectOk(ask("POST", "/w/acme/groups/create", { name: "dans" }));
  await deploy(ask, "acme", "u/dan/x", "export const main = () => 1");
  const kept = "/w/acme/inputs/create?runnable_id=u/dan/x&runnable_type=ScriptPath";
  await expectOk(ask("POST", kept, { name: "kept", args: {} }));
  const preview = { language: "bun", content: "export const main = () => Bun.sleep(600_000);", args: {} };
  const start = async (of: Ask) => (await expectOk(of("POST", "/w/acme/jobs/run/preview", preview))).text;
  const runs = [await start(ask), await start(boss.ask)];
  for (const id of runs) {
    await until(async () => {
      const [job] = await db.read.select().from(jobs).where(eq(jobs.id, id));
      return job?.state === "running" ? true : undefined;
    });
  }
  await expectOk(root("DELETE", "/users/delete/dan@example.org"));
  await expectOk(root("DELETE", "/users/delete/boss@example.org"));
  for (const gone of [token, session, boss.token]) expect((await whoami(gone)).status).toBe(401);
  for (const id of runs) {
    await until(async () => {
      const [job] = await db.read.select().from(jobs).where(eq(jobs.id, id));
      return job?.status === "canceled" ? true : undefined;
    }, "the run's end");
  }
  expect((await login("dan", "dan-password")).status).toBe(400);
  expect((await root("GET", "/users/exists/dan@example.org")).json()).toBe(false);
  expect((await root("GET", "/w/acme/users/list_usernames")).json()).not.toContain("dan");
  for (const table of [workspaceInvites, instanceGroupMembers, oauthLogins, inputs]) {
    expect(await db.read.select().from(table)).toEqual([]);
  }
  expect((await root("GET", "/w/acme/groups/get/dans")).json()).toMatchObject({
    members: [],
    extra_perms: {},
  });
  expect((await root("DELETE", "/users/delete/dan@example.org")).status).toBe(404);
  const { auditLog } = await import("../../../../src/features/signals/audit/tables.ts");
  const rows = await db.read.select().from(auditLog).where(eq(auditLog.resource, "dan@example.org"));
  expect(rows.find(({ operation }) => operation === "users.delete")?.parameters).toEqual({
    kept_for_admins: "acme:u/dan/",
    canceled_runs: "1",
    deleted_tokens: "2",
  });
}, 60_000);

test("users can leave the instance; a restricted token cannot do so for them", async () => {
  const { ask } = await server.member("acme", "lea");
  for (const restricted of [{ scopes: ["users:write"] }, { workspace_id: "acme" }]) {
    const made = (await expectOk(ask("POST", "/users/tokens/create", restricted))).text;
    expect((await server.as(made)("POST", "/users/leave_instance")).status).toBe(403);
  }
  await expectOk(ask("POST", "/users/leave_instance"));
  expect((await ask("GET", "/users/whoami")).status).toBe(401);
  expect((await server.operator("POST", "/users/leave_instance")).status).toBe(400);
});

test("tutorial progress is stored per user", async () => {
  const { ask } = await server.user("tess");
  const read = async () => (await ask("GET", "/users/tutorial_progress")).json();
  expect(await read()).toEqual({ progress: 0 });
  await expectOk(ask("POST", "/users/tutorial_progress", { progress: 5 }));
  expect(await read()).toEqual({ progress: 5 });
  for (const progress of [-1, 1.5, "5", undefined]) {
    const answer = await ask("POST", "/users/tutorial_progress", { progress });
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining("`progress`")]);
  }
  expect((await root("GET", "/users/tutorial_progress")).json()).toEqual({ progress: 0 });
});

test("passwords set by super admins are stored as hashes only", async () => {
  const { auditLog } = await import("../../../../src/features/signals/audit/tables.ts");
  await server.user("pat");
  await expectOk(root("POST", "/users/set_password_of/pat@example.org", { password: "very-secret" }));
  const rows = await server.server.app.db.read.select().from(auditLog);
  expect(rows.some(({ operation }) => operation === "users.setpassword")).toBe(true);
  expect(JSON.stringify([rows, await server.server.app.db.read.select().from(users)])).not.toContain(
    "very-secret",
  );
});
