import { afterAll, beforeAll, expect, test } from "bun:test";
import type { Database } from "../../../../src/database/database.ts";
import { auditLog } from "../../../../src/features/signals/audit/tables.ts";
import { StorageFull } from "../../../../src/lib/errors.ts";
import { type Ask, deploy, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

let server: TestServer;
let admin: Ask;
let dev: Ask;
let since: string;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask: admin } = await server.workspace());
  ({ ask: dev } = await server.member("acme", "dev"));
  since = new Date(Date.now() - 60_000).toISOString();
  const body = { path: "u/dev/key", value: "top-secret", is_secret: true, description: "hush-hush" };
  await expectOk(dev("POST", "/w/acme/variables/create", body));
  await expectOk(dev("GET", "/w/acme/variables/get_value/u/dev/key"));
  await expectOk(dev("GET", "/w/acme/variables/get/u/dev/key?decrypt_secret=false"));
  await expectOk(dev("POST", "/w/acme/variables/update/u/dev/key", { value: "top-secret-2" }));
  await expectOk(dev("DELETE", "/w/acme/variables/delete/u/dev/key"));
  await expectOk(admin("POST", "/w/acme/variables/create", { ...body, path: "u/admin/key" }));
  await dev("POST", "/w/acme/variables/create", { ...body, path: "u/admin/key" });
});
afterAll(() => server.stop());

const list = async (query = "", ask = admin) =>
  (await expectOk(ask("GET", `/w/acme/audit/list${query}`))).json();

/** Audit rows outside any workspace, which no operation returns. */
async function globalRows(email: string) {
  const rows = await server.server.app.db.read.select().from(auditLog).orderBy(auditLog.id);
  return rows.filter((row) => row.workspace_id === "global" && row.email === email);
}

test("a change stores one audit row; reads and refused calls store none", async () => {
  const rows = await list();
  const short = rows.map((row: any) => [row.username, row.operation, row.action_kind, row.resource]);
  expect(short).toEqual([
    ["admin", "variables.create", "Create", "u/admin/key"],
    ["dev", "variables.delete", "Delete", "u/dev/key"],
    ["dev", "variables.update", "Update", "u/dev/key"],
    ["dev", "variables.decrypt_secret", "Execute", "u/dev/key"],
    ["dev", "variables.create", "Create", "u/dev/key"],
  ]);
  expect(rows[1]).toEqual({
    id: expect.any(Number),
    workspace_id: "acme",
    timestamp: expect.any(String),
    username: "dev",
    email: "dev@example.org",
    operation: "variables.delete",
    action_kind: "Delete",
    resource: "u/dev/key",
    parameters: null,
  });
  for (const text of ["top-secret", "hush-hush"]) expect(JSON.stringify(rows)).not.toContain(text);
});

test("admins read every row of the workspace, members their own, others none", async () => {
  const ids = (await list()).map((row: any) => row.id);
  const own = (await expectOk(dev("GET", "/w/acme/audit/export"))).text.trim().split("\n");
  expect(own.map((line) => JSON.parse(line).email)).toEqual(Array(4).fill("dev@example.org"));
  expect((await admin("GET", `/w/acme/audit/get/${ids[1]}`)).json().operation).toBe("variables.delete");
  for (const path of ["list", `get/${ids[1]}`]) {
    expect([path, (await dev("GET", `/w/acme/audit/${path}`)).status]).toEqual([path, 403]);
  }
  const stranger = (await server.user("stranger")).ask;
  expect((await stranger("GET", "/w/acme/audit/list")).status).toBe(401);
  expect((await stranger("GET", "/w/global/audit/list")).status).toBe(401);
});

test.each([
  ["?username=dev", 4],
  ["?username=nobody", 0],
  ["?operation=variables.d", 2],
  ["?operations=variables.create,variables.delete", 3],
  ["?exclude_operations=variables.create,%20variables.delete", 2],
  ["?resource=u/dev", 4],
  ["?action_kind=Create", 2],
  ["?per_page=2&page=3", 1],
  ["?per_page=2&page=0", 2],
  ["?after=SINCE", 5],
  ["?before=SINCE", 0],
  ["?after=2999-01-01T00:00:00Z", 0],
  ["?before=2999-01-01T00:00:00Z", 5],
  ["?username=dev&action_kind=Create", 1],
] as const)("the filter %s leaves %d rows", async (query, count) => {
  expect(await list(query.replace("SINCE", encodeURIComponent(since)))).toHaveLength(count);
});

test.each([
  ["/list?action_kind=Read", 400, "`action_kind`"],
  ["/list?before=yesterday", 400, "`before`"],
  ["/get/first", 400, '"first"'],
  ["/get/999999999999999", 404, "999999999999999"],
] as const)("%s answers %d", async (path, status, message) => {
  const answer = await admin("GET", `/w/acme/audit${path}`);
  expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(message)]);
});

test("the export is JSON lines, oldest first, with the filters and rights of the list", async () => {
  const lines = async (query = "", ask = admin) => {
    const answer = await expectOk(ask("GET", `/w/acme/audit/export${query}`));
    expect(answer.headers.get("content-type")).toBe("application/jsonl");
    return answer.text
      .split("\n")
      .slice(0, -1)
      .map((line) => JSON.parse(line));
  };
  const rows = await list();
  expect(await lines()).toEqual(rows.toReversed());
  expect(await lines("", dev)).toEqual((await list("?username=dev")).toReversed());
  expect((await lines("?operations=variables.create&username=dev")).map((row) => row.resource)).toEqual([
    "u/dev/key",
  ]);
  expect(await lines("?username=nobody")).toEqual([]);
  expect((await admin("GET", "/w/acme/audit/export?action_kind=Read")).status).toBe(400);
});

test("pages and exports of a long log are complete with any filter", async () => {
  await using own = await startTestServer();
  const { ask } = await own.workspace();
  // An hour ago: old rows would be deleted while the test runs.
  const first = Date.now() - 3_600_000;
  const row = (index: number) => ({
    workspace_id: index % 3 === 0 ? "other" : "acme",
    timestamp: new Date(first + index),
    username: "somebody",
    email: index % 1_000 === 1 ? "admin_acme@example.org" : "somebody@example.org",
    operation: index % 4_000 === 1 ? "rare.thing" : "common.thing",
    action_kind: "Update",
    resource: String(index),
  });
  const count = 18_000;
  await own.server.app.db.write(async (tx) => {
    for (let at = 0; at < count; at += 500) {
      await tx.insert(auditLog).values(Array.from({ length: 500 }, (_, index) => row(at + index)));
    }
  });
  const resources = async (query: string) =>
    (await expectOk(ask("GET", `/w/acme/audit/list${query}`))).json().map((one: any) => one.resource);
  expect(await resources("?operation=rare")).toEqual(["16001", "12001", "4001", "1"]);
  expect(await resources("?operation=rare&per_page=2&page=2")).toEqual(["4001", "1"]);
  expect((await resources("?per_page=10&page=1000"))[0]).toBe("3014");
  const exported = await expectOk(ask("GET", "/w/acme/audit/export"));
  const lines = exported.text.split("\n").slice(0, -1);
  expect(lines).toHaveLength((count * 2) / 3);
  expect(new Set(lines.map((line) => JSON.parse(line).id)).size).toBe(lines.length);
}, 60_000);

test("super admins read the rows of all workspaces and those without one", async () => {
  const root = (await server.user("top", { super_admin: true })).ask;
  const of = async (query: string) =>
    (await expectOk(root("GET", `/audit/list${query}`))).json().map((row: any) => row.workspace_id);
  expect(new Set(await of(""))).toEqual(new Set(["acme", "global"]));
  expect(new Set(await of("?workspace=global"))).toEqual(new Set(["global"]));
  const lines = (await expectOk(root("GET", "/audit/export?workspace=acme"))).text.split("\n");
  expect(lines).toHaveLength((await list()).length + 1);
  expect((await admin("GET", "/audit/list")).status).toBe(403);
  expect((await admin("GET", "/audit/export")).status).toBe(403);
});

test("rows of calls outside of workspaces name the e-mail, and tokens by their prefix", async () => {
  const email = "ann@example.org";
  await server.user("ann", { super_admin: true });
  const login = await server.as(undefined)("POST", "/auth/login", { email, password: "ann-password" });
  let session = server.as(login.text);
  const token = (await expectOk(session("POST", "/users/tokens/create", { label: "ci" }))).text;
  const prefix = token.slice(0, 10);
  await expectOk(session("DELETE", `/users/tokens/delete/${prefix}`));
  const body = { email: "bob@example.org", password: "bob-password", super_admin: false };
  await expectOk(session("POST", "/users/create", body));
  const changed = await expectOk(session("POST", "/users/setpassword", { password: "new-password" }));
  // The session that changed it has ended, and a new one replaces it.
  session = server.as(/^token=(\w+)/.exec(changed.headers.getSetCookie()[0]!)![1]);
  const target = { impersonate_email: "bob@example.org" };
  const other = (await expectOk(session("POST", "/users/tokens/impersonate", target))).text;
  await expectOk(session("POST", "/auth/logout"));
  await server.as(undefined)("POST", "/auth/login", { email, password: "wrong-password" });
  const rows = await globalRows(email);
  expect(rows.map((row) => [row.username, row.operation, row.action_kind, row.resource])).toEqual([
    [email, "users.login", "Create", email],
    [email, "users.token.create", "Create", prefix],
    [email, "users.token.delete", "Delete", prefix],
    [email, "users.create", "Create", "bob@example.org"],
    [email, "users.setpassword", "Update", email],
    [email, "users.impersonate", "Create", other.slice(0, 10)],
    [email, "users.logout", "Delete", null],
  ]);
  expect(rows[5]!.parameters).toEqual({ email: "bob@example.org", label: "" });
  const text = JSON.stringify(rows);
  for (const secret of [token, other, login.text, "password-", "-password"])
    expect(text).not.toContain(secret);
});

test("with JOB_VIEW_AUDIT_LOGS reading a job stores a row, at most one a minute; without it none", async () => {
  await using told = await startTestServer({ job_view_audit_logs: "true" });
  for (const of of [told, server]) {
    const { ask } = of === told ? await of.workspace() : { ask: admin };
    await deploy(ask, "acme", "u/admin/seen", "export const main = () => 1");
    await expectOk(ask("POST", "/w/acme/jobs/run_wait_result/p/u/admin/seen", {}));
    const [{ id }] = (await ask("GET", "/w/acme/jobs/completed/list")).json();
    const other = (await of.member("acme", "viewer", "admin")).ask;
    const paths = [`/w/acme/jobs_u/get/${id}`, `/w/acme/jobs/completed/get/${id}`];
    for (const who of [ask, other]) {
      for (const path of paths) await expectOk(who("GET", path));
    }
    const { app } = of.server;
    const { clock } = app;
    Object.assign(app, { clock: () => new Date(Date.now() + 61_000) });
    await expectOk(other("GET", paths[0]!));
    Object.assign(app, { clock });
    const rows = (await ask("GET", "/w/acme/audit/list?operation=jobs.view")).json();
    const short = rows.map((row: any) => [row.username, row.action_kind, row.resource]);
    const views = ["viewer", "viewer", "admin"].map((name) => [name, "Execute", id]);
    expect(short).toEqual(of === told ? views : []);
  }
});

test("with JOB_VIEW_AUDIT_LOGS each operation that reads a job stores its row first", async () => {
  await using told = await startTestServer({ job_view_audit_logs: "true" });
  const { ask } = await told.workspace();
  await deploy(ask, "acme", "u/admin/seen", "export const main = () => 1");
  await expectOk(ask("POST", "/w/acme/jobs/run_wait_result/p/u/admin/seen", {}));
  const [{ id }] = (await ask("GET", "/w/acme/jobs/completed/list")).json();
  const ways = ["get", "get_logs", "get_args", "getupdate", "getupdate_sse", "completed/get"]
    .concat(["completed/get_result", "completed/get_result_maybe", "get_completed_logs_tail"])
    .map((way) => `/w/acme/jobs_u/${way}/${id}`)
    .concat(`/w/acme/jobs_u/get_log_file/${id}/1.txt`);
  const views = async () => (await ask("GET", "/w/acme/audit/list?operation=jobs.view")).json().length;
  for (const [n, way] of ways.entries()) {
    Object.assign(told.server.app, { clock: () => new Date(Date.now() + n * 61_000) });
    await expectOk(ask("GET", way));
    expect([way, await views()]).toEqual([way, n + 1]);
  }
  Object.assign(told.server.app, { clock: () => new Date(Date.now() + 3_600_000) });
  const db = told.server.app.db as { write: Database["write"] };
  const { write } = db;
  db.write = () => Promise.reject(new StorageFull("no room"));
  const failed = await Promise.all([1, 2].map(() => ask("GET", ways[0]!)));
  db.write = write;
  expect(failed.map(({ status }) => status)).toEqual([507, 507]);
  await expectOk(ask("GET", ways[0]!));
  expect(await views()).toBe(ways.length + 1);
});
