/** The people of a workspace: what they are told of each other, what admins change, and what becomes of who leaves. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { and, eq } from "drizzle-orm";
import { cancelRunsOf } from "../../../../src/features/runs/api/change/access-revoked.ts";
import { formerUsernames } from "../../../../src/features/tenancy/people/user-tables.ts";
import { workspaceInvites, workspaces } from "../../../../src/features/tenancy/workspaces/tables.ts";
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
let admin: Ask;

beforeAll(async () => {
  server = await startTestServer();
  admin = (await server.workspace()).ask;
});
afterAll(() => server.stop());

const audit = async (workspace: string, resource: string) =>
  (await server.operator("GET", `/w/${workspace}/audit/list?operations=users.delete&resource=${resource}`))
    .json<{ resource: string; username: string; parameters: Record<string, string> }[]>()
    .find((row) => row.resource === resource);

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
  const olga = await member("olga");
  expect((await olga("GET", `/w/acme/users/is_owner/${path}`)).json()).toBe(own);
  expect((await admin("GET", `/w/acme/users/is_owner/${path}`)).json()).toBe(all);
});

const known = new Map<string, Promise<Ask>>();
/** A member, made once. */
function member(name: string): Promise<Ask> {
  const ask = known.get(name) ?? server.member("acme", name).then((made) => made.ask);
  known.set(name, ask);
  return ask;
}

test("usage is a job's seconds and one more, flows left out; by workspace for a week, by person for a month", async () => {
  const ask = await member("uma");
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
  await member("cora2");
  const answer = await admin("POST", `/w/acme/users/update/${name}`, change);
  expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(message)]);
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

/** A script that runs until it is ended, one that is due much later, and a flow that waits. */
async function busyMember(name: string) {
  const made = await server.member("acme", name);
  const { ask } = made;
  await deploy(ask, "acme", `u/${name}/busy`, "export async function main() { await Bun.sleep(600_000); }");
  const run = async (query = "") =>
    (await expectOk(ask("POST", `/w/acme/jobs/run/p/u/${name}/busy${query}`, {}))).text;
  const running = await run();
  await until(async () =>
    (await ask("GET", `/w/acme/jobs_u/get/${running}`)).json().running ? true : undefined,
  );
  const later = await run("?scheduled_in_secs=3600");
  const value = {
    modules: [{ id: "a", value: { type: "script", path: `u/${name}/busy`, input_transforms: {} } }],
  };
  const flow = (await expectOk(ask("POST", "/w/acme/jobs/run/preview_flow", { value, args: {} }))).text;
  return { ...made, runs: [running, later, flow] };
}

const isCanceled = (id: string) =>
  until(async () => {
    const [job] = await server.server.app.db.read.select().from(jobs).where(eq(jobs.id, id));
    return job?.status === "canceled" ? true : undefined;
  }, `the end of ${id}`);

const unfinishedOf = async (name: string) =>
  (
    await server.server.app.db.read
      .select({ id: jobs.id, state: jobs.state })
      .from(jobs)
      .where(and(eq(jobs.workspace_id, "acme"), eq(jobs.permissioned_as, `u/${name}`)))
  ).filter(({ state }) => state !== "completed").length;

test("runs of a disabled member are canceled, and none starts", async () => {
  const { runs, ask } = await busyMember("dora");
  await expectOk(admin("POST", "/w/acme/users/update/dora", { disabled: true }));
  for (const id of runs) await isCanceled(id);
  await until(async () => ((await unfinishedOf("dora")) === 0 ? true : undefined));
  expect((await ask("POST", "/w/acme/jobs/run/p/u/dora/busy", {})).status).toBe(401);
}, 40_000);

test("a job marked as canceled does not start, although nobody is left to complete it", async () => {
  const { ask } = await server.member("acme", "mia");
  const { app } = server.server;
  await deploy(ask, "acme", "u/mia/hello", "export function main() { return 1; }");
  const later = await expectOk(ask("POST", "/w/acme/jobs/run/p/u/mia/hello?scheduled_in_secs=3600", {}));
  const person = { workspace_id: "acme", username: "mia", email: "mia@example.org" };
  const marked = await app.db.write((tx) => cancelRunsOf(app, tx, person, { by: "admin", reason: "gone" }));
  expect(marked.canceled_runs).toBe(1);
  await app.db.write(async (tx) => {
    await tx.update(jobs).set({ scheduled_for: new Date() }).where(eq(jobs.id, later.text));
  });
  app.queue.wake();
  await isCanceled(later.text);
}, 30_000);

test("items of a removed member go to the admins; runs, grants and workspace tokens end, and the name stays reserved", async () => {
  const { runs, ask } = await busyMember("dean");
  const eva = await member("eva");
  const secret = { path: "u/dean/key", value: "k", is_secret: true, description: "" };
  await expectOk(ask("POST", "/w/acme/variables/create", secret));
  const shared = { path: "u/eva/shared", value: "1", is_secret: false, description: "" };
  await expectOk(eva("POST", "/w/acme/variables/create", shared));
  const { variables } = await import("../../../../src/features/assets/variable-tables.ts");
  const { db } = server.server.app;
  await db.write(async (tx) => {
    const extra_perms = { "u/dean": true, "u/deanna": false };
    await tx.update(variables).set({ extra_perms }).where(eq(variables.path, "u/eva/shared"));
  });
  const busy = "runnable_type=ScriptPath&runnable_id=u/dean/busy";
  await expectOk(ask("POST", "/w/acme/favorites/star", { path: "u/dean/busy", favorite_kind: "script" }));
  for (const [name, is_public] of [
    ["mine", false],
    ["ours", true],
  ] as const) {
    const saved = await expectOk(ask("POST", `/w/acme/inputs/create?${busy}`, { name, args: {} }));
    await expectOk(ask("POST", "/w/acme/inputs/update", { id: saved.text, name, is_public }));
  }
  const bound = (await expectOk(ask("POST", "/users/tokens/create", { workspace_id: "acme" }))).text;
  await expectOk(admin("DELETE", "/w/acme/users/delete/dean"));

  for (const id of runs) await isCanceled(id);
  await until(async () => ((await unfinishedOf("dean")) === 0 ? true : undefined));
  expect((await ask("GET", "/w/acme/users/whoami")).status).toBe(401);
  expect((await ask("GET", "/users/whoami")).status).toBe(200);
  expect((await server.as(bound)("GET", "/users/whoami")).status).toBe(401);
  expect((await admin("GET", "/w/acme/variables/get_value/u/dean/key")).json()).toBe("k");
  const left = (await admin("GET", "/w/acme/variables/get/u/eva/shared")).json();
  expect(left.extra_perms).toEqual({ "u/deanna": false });
  expect((await audit("acme", "dean"))?.parameters).toEqual({
    email: "dean@example.org",
    kept_for_admins: "u/dean/",
    canceled_runs: "4",
    deleted_tokens: "1",
  });
  const kept = await db.read.select().from(formerUsernames).where(eq(formerUsernames.username, "dean"));
  expect(kept).toEqual([{ workspace_id: "acme", username: "dean", email: "dean@example.org" }]);
  expect((await admin("DELETE", "/w/acme/users/delete/dean")).status).toBe(404);

  // A namesake is not let at what dean left; dean, back again, is.
  const invited = async (email: string) =>
    db.write(async (tx) => {
      const invite = {
        workspace_id: "acme",
        email,
        is_admin: false,
        operator: false,
        created_at: new Date(),
      };
      await tx.insert(workspaceInvites).values(invite);
    });
  const namesake = await server.user("namesake");
  await invited("namesake@example.org");
  const taken = await namesake.ask("POST", "/users/accept_invite", {
    workspace_id: "acme",
    username: "dean",
  });
  expect([taken.status, taken.text]).toEqual([
    400,
    expect.stringContaining("dean is taken in workspace acme"),
  ]);
  await invited("dean@example.org");
  await expectOk(ask("POST", "/users/accept_invite", { workspace_id: "acme" }));
  expect((await ask("GET", "/w/acme/variables/get_value/u/dean/key")).json()).toBe("k");
  const stillSaved = (await ask("GET", `/w/acme/inputs/list?${busy}`)).json();
  expect(stillSaved.map((input: { name: string }) => input.name)).toEqual(["ours"]);
  expect((await ask("GET", "/w/acme/scripts/list?starred_only=true")).json()).toEqual([]);
}, 60_000);

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

test("who joins without a username gets the next free one", async () => {
  const { db } = server.server.app;
  await member("kim");
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
