import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { sql } from "drizzle-orm";
import { type Ask, startTestServer, type TestServer } from "../../../support/harness.ts";

let server: TestServer;
/** API clients by role. */
const as: Record<string, Ask> = {};

beforeAll(async () => {
  server = await startTestServer();
  as.admin = (await server.workspace()).ask;
  as.developer = (await server.member("acme", "dev")).ask;
  as.operator = (await server.member("acme", "ops", "operator")).ask;
  as.outsider = (await server.user("outsider")).ask;
  as["super admin"] = (await server.user("root", { super_admin: true })).ask;
  as.anonymous = server.as(undefined);
  as["wrong token"] = server.as("x".repeat(32));
  as.machine = server.operator;
});
afterAll(() => server.stop());

const create = (ask: Ask, body: object) => ask("POST", "/workspaces/create", { name: "A name", ...body });

const everybody = (value: boolean) =>
  as.machine!("POST", "/settings/global/create_workspace_require_superadmin", { value });

test("only super admins create workspaces, unless the instance allows all users; operators never do", async () => {
  for (const who of ["admin", "developer", "operator", "outsider"]) {
    const refused = await create(as[who]!, { id: "mine" });
    expect([who, refused.status, refused.text]).toEqual([who, 403, expect.stringContaining("super admin")]);
  }
  expect((await create(as["super admin"]!, { id: "theirs" })).status).toBe(201);
  await everybody(false);
  expect((await create(as.operator!, { id: "mine" })).status).toBe(403);
  expect((await create(as.developer!, { id: "mine" })).status).toBe(201);
});

describe("a new workspace", () => {
  beforeAll(() => everybody(false));

  test("has its creator as admin, and is in the lists of its members", async () => {
    const { ask, email } = await server.user("maker");
    const answer = await create(ask, { id: "made", username: "boss" });
    expect([answer.status, answer.text]).toEqual([201, "Created workspace made"]);
    expect((await ask("GET", "/w/made/users/whoami")).json()).toEqual({
      workspace_id: "made",
      email,
      username: "boss",
      is_admin: true,
      is_super_admin: false,
      created_at: expect.any(String),
      operator: false,
      disabled: false,
      groups: ["all"],
      folders: [],
      folders_read: ["app_custom", "app_groups", "app_themes"],
      folders_owners: [],
    });
    const listed = { id: "made", name: "A name", owner: email };
    expect((await ask("GET", "/workspaces/list")).json()).toEqual([listed]);
    expect((await ask("GET", "/workspaces/users")).json()).toEqual({
      email,
      workspaces: [{ id: "made", name: "A name", username: "boss" }],
    });
    expect((await as.outsider!("GET", "/workspaces/list")).json()).toEqual([]);
    expect((await as["super admin"]!("GET", "/workspaces/list")).json()).toContainEqual(listed);
  });

  test.each([
    ["nothing given", "ann.lee", undefined, "ann_lee"],
    ["a number first", "7of9", undefined, "u7of9"],
    ["null given", "nils", null, "nils"],
  ])("names its admin after the e-mail: %s", async (_, local, username, expected) => {
    const email = `${local}@example.org`;
    await server.operator("POST", "/users/create", { email, password: "x-password", super_admin: false });
    const token = (await server.operator("POST", "/users/tokens/impersonate", { impersonate_email: email }))
      .text;
    const id = `of-${expected}`;
    expect((await create(server.as(token), { id, username })).status).toBe(201);
    expect((await server.as(token)("GET", `/w/${id}/users/whoami`)).json().username).toBe(expected);
  });

  test("belongs to another user or nobody only if a super admin creates it", async () => {
    const owner = "outsider@example.org";
    expect((await create(as.developer!, { id: "gift", owner })).status).toBe(403);
    expect((await create(as["super admin"]!, { id: "gift", owner: "no@example.org" })).status).toBe(404);
    expect((await create(as.machine!, { id: "nobodys" })).status).toBe(201);
    const { ask, email } = await server.user("gifted");
    expect((await create(as["super admin"]!, { id: "gift", owner: email })).status).toBe(201);
    expect((await ask("GET", "/w/gift/users/whoami")).json().is_admin).toBe(true);
  });

  test("has a unique id: the first of many concurrent requests wins", async () => {
    const answers = await Promise.all(Array.from({ length: 8 }, () => create(as.outsider!, { id: "race" })));
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(7).fill(400)]);
  });

  test("with a reserved name is for super admins only, or cannot be created", async () => {
    expect((await create(as.developer!, { id: "admins" })).status).toBe(403);
    expect((await create(as["super admin"]!, { id: "global" })).status).toBe(400);
    expect((await create(as["super admin"]!, { id: "admins" })).status).toBe(201);
    expect((await as.outsider!("GET", "/w/admins/users/whoami")).status).toBe(401);
  });
});

test.each([
  ["a taken id", { id: "acme" }, "acme already"],
  ["a space in its id", { id: "a b" }, '"a b" cannot be a workspace id'],
  ["two dashes", { id: "a--b" }, "workspace id"],
  ["a dash first", { id: "-a" }, "workspace id"],
  ["a slash", { id: "a/b" }, "workspace id"],
  ["an empty id", { id: "" }, "workspace id"],
  ["51 characters", { id: "a".repeat(51) }, "50 characters"],
  ["an id that is a number", { id: 1 }, "`id`"],
  ["no id", {}, "`id`"],
  ["an empty name", { id: "ok", name: " " }, "`name`"],
  ["no name", { id: "ok", name: undefined }, "`name`"],
  ["a bad username", { id: "ok", username: "1x" }, '"1x" cannot be a username'],
  ["the name of nobody", { id: "ok", username: "anonymous" }, '"anonymous" cannot be a username'],
])("a workspace with %s is rejected with the reason", async (_, body, message) => {
  const answer = await create(as["super admin"]!, body);
  expect(answer.status).toBe(400);
  expect(answer.text).toContain(message);
});

test("every user may check whether an id is taken", async () => {
  for (const [id, expected] of [["acme", true] as const, ["nowhere", false] as const]) {
    const answer = await as.outsider!("POST", "/workspaces/exists", { id });
    expect([answer.status, answer.json()]).toEqual([200, expected]);
  }
  expect((await as.anonymous!("POST", "/workspaces/exists", { id: "acme" })).status).toBe(401);
  expect((await as.outsider!("POST", "/workspaces/exists", {})).text).toContain("`id`");
});

const variable = { path: "u/ops/x", value: "1", is_secret: false, description: "" };
const script = { path: "u/ops/x", content: "export const main = () => 1", language: "bun" };

test.each([
  ["operator", "GET", "/w/acme/users/whoami", undefined, 200],
  ["operator", "GET", "/w/acme/variables/list", undefined, 200],
  ["operator", "POST", "/w/acme/variables/create", variable, 403],
  ["operator", "POST", "/w/acme/variables/update/u/ops/x", {}, 403],
  ["operator", "DELETE", "/w/acme/variables/delete/u/ops/x", undefined, 403],
  ["operator", "POST", "/w/acme/variables/encrypt", '"x"', 403],
  ["operator", "POST", "/w/acme/scripts/create", script, 403],
  ["operator", "POST", "/w/acme/jobs/run/preview", { ...script, args: {} }, 403],
  ["developer", "GET", "/w/acme/variables/get/u/nobody/x", undefined, 404],
  ["developer", "POST", "/w/acme/variables/create", variable, 403],
  ["outsider", "GET", "/w/acme/users/whoami", undefined, 401],
  ["outsider", "POST", "/w/acme/variables/create", variable, 401],
  ["outsider", "GET", "/w/nowhere/users/whoami", undefined, 401],
  ["super admin", "GET", "/w/nowhere/users/whoami", undefined, 404],
  ["super admin", "GET", "/w/acme/users/whoami", undefined, 200],
  ["anonymous", "GET", "/w/acme/users/whoami", undefined, 401],
  ["anonymous", "POST", "/w/acme/jobs/run/p/u/admin/x", {}, 401],
  ["anonymous", "GET", "/no/such/operation", undefined, 404],
  ["wrong token", "GET", "/w/acme/users/whoami", undefined, 401],
  ["wrong token", "GET", "/workspaces/list", undefined, 401],
  ["admin", "GET", "/w/a%20b/users/whoami", undefined, 400],
] as const)("%s: %s %s", async (who, method, path, body, status) => {
  expect((await as[who]!(method, path, body)).status).toBe(status);
});

test("a super admin who is not a member acts as an admin named by e-mail", async () => {
  const me = (await as["super admin"]!("GET", "/w/acme/users/whoami")).json();
  expect(me).toMatchObject({ username: "root@example.org", is_admin: true, is_super_admin: true });
});

test.each([
  ["admin", "GET", "/w/acme/variables/get/u/a/b", undefined, 404, "NotFound", "Not found: "],
  ["anonymous", "GET", "/users/whoami", undefined, 401, "Unauthorized", "Unauthorized: "],
  ["super admin", "POST", "/users/create", {}, 400, "InvalidInput", "Bad request: "],
  ["operator", "POST", "/w/acme/variables/encrypt", '"x"', 403, "Forbidden", "Permission denied: "],
  ["admin", "GET", "/no/such/operation", undefined, 404, "NotFound", "Not found: "],
  ["admin", "POST", "/workspaces/exists", "{", 400, "BadRequest", "Bad request: the body is not JSON"],
] as const)("an error of %s %s %s is text, and a problem on request", async (...given) => {
  const [who, method, path, body, status, name, prefix] = given;
  const text = await as[who]!(method, path, body);
  expect([text.status, text.headers.get("svc-error")]).toEqual([status, name]);
  expect(text.headers.get("content-type")).toBe("text/plain; charset=utf-8");
  expect(text.text).toStartWith(prefix);
  expect(text.headers.get("www-authenticate")).toBe(status === 401 ? "Bearer" : null);
  const problem = await as[who]!(method, path, body, { accept: "application/problem+json" });
  expect([problem.status, problem.headers.get("svc-error")]).toEqual([status, name]);
  expect(problem.headers.get("content-type")).toBe("application/problem+json");
  expect(problem.json()).toMatchObject({ type: "about:blank", title: name, status });
  expect(problem.json().detail).toStartWith(prefix);
});

test("an internal error is hidden in the response, and its log contains no values", async () => {
  await using own = await startTestServer();
  const { ask } = await own.workspace();
  const logged: unknown[] = [];
  const { app } = own.server;
  Object.assign(app, {
    log: Object.assign(Object.create(app.log), { error: (...parts: unknown[]) => logged.push(parts) }),
  });
  await app.db.write((tx) => tx.rows(sql.raw("ALTER TABLE variables RENAME TO elsewhere")));
  const body = { path: "u/admin/x", value: "value-given", is_secret: false, description: "" };
  for (const answer of [
    await ask("GET", "/w/acme/variables/get/u/admin/value-given"),
    await ask("POST", "/w/acme/variables/create", body),
  ]) {
    expect([answer.status, answer.headers.get("svc-error")]).toEqual([500, "Internal"]);
    expect(answer.text).not.toContain("variables");
  }
  expect(logged).toHaveLength(2);
  expect(JSON.stringify(logged)).toContain("variables");
  expect(JSON.stringify(logged)).not.toContain("value-given");
});
