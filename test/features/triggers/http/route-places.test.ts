/** Routes that a workspace may create, so that no request reaches another workspace. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { and, eq } from "drizzle-orm";
import { invalidateRoutes } from "../../../../src/features/triggers/http/active-routes.ts";
import { httpTriggers } from "../../../../src/features/triggers/http/tables.ts";
import { type Ask, deploy, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

let server: TestServer;
let acme: Ask;
let evil: Ask;
let author: Ask;
const nobody: Ask = (...call) => server.as(undefined)(...call);
const allow = (value: string[] | null) =>
  expectOk(server.operator("POST", "/settings/global/root_route_workspaces", { value }));

beforeAll(async () => {
  server = await startTestServer();
  ({ ask: acme } = await server.workspace("acme"));
  ({ ask: evil } = await server.workspace("evil"));
  ({ ask: author } = await server.member("evil", "mallory"));
  for (const [ask, workspace, user] of [
    [acme, "acme", "admin"],
    [evil, "evil", "admin"],
    [author, "evil", "mallory"],
  ] as const) {
    await deploy(ask, workspace, `u/${user}/of`, `export const main = () => "${workspace}"`);
  }
});
afterAll(() => server.stop());

let count = 0;
const bodyOf = (user: string, route_path: string, more: object = {}) => ({
  path: `u/${user}/r${++count}`,
  route_path,
  http_method: "post",
  script_path: `u/${user}/of`,
  is_flow: false,
  ...more,
});
const create = (ask: Ask, workspace: string, body: object) =>
  ask("POST", `/w/${workspace}/http_triggers/create`, body);

describe("a route without the workspace's id as prefix", () => {
  test("is for admins of the workspaces in the instance setting, and for super admins", async () => {
    await allow(null);
    const refused = await create(evil, "evil", bodyOf("admin", "free/a"));
    expect([refused.status, refused.text]).toEqual([403, expect.stringContaining("root_route_workspaces")]);
    await allow(["acme"]);
    expect((await create(evil, "evil", bodyOf("admin", "free/a"))).status).toBe(403);
    await allow(["acme", "evil"]);
    expect((await create(author, "evil", bodyOf("mallory", "free/a"))).status).toBe(403);
    expect((await create(evil, "evil", bodyOf("admin", "free/a"))).status).toBe(201);
    const { ask: root } = await server.user("root", { super_admin: true });
    await allow(null);
    expect((await create(root, "evil", bodyOf("admin", "free/b"))).status).toBe(201);
  });

  test("cannot be changed or enabled by others, who may disable it", async () => {
    await allow(["acme"]);
    const body = bodyOf("admin", "kept/a");
    await expectOk(create(acme, "acme", body));
    const { ask: dev } = await server.member("acme", "dev");
    for (const [kind, path] of [
      ["http_trigger", body.path],
      ["script", body.script_path],
    ]) {
      await expectOk(acme("POST", `/w/acme/acls/add/${kind}/${path}`, { owner: "u/dev", write: true }));
    }
    const at = `/w/acme/http_triggers`;
    expect((await dev("POST", `${at}/update/${body.path}`, body)).status).toBe(403);
    expect((await dev("POST", `${at}/setenabled/${body.path}`, { enabled: false })).status).toBe(200);
    expect((await dev("POST", `${at}/setenabled/${body.path}`, { enabled: true })).status).toBe(403);
  });
});

describe("of two workspaces", () => {
  test.each([
    ["a literal part of a parameter", "o1/:id", "o1/7"],
    ["a parameter of a literal part", "o2/7", "o2/:id"],
    ["a rest", "o3/:id", "o3/*rest"],
    ["a rest of everything", "o4/:id", "*"],
    ["below a rest", "o5/*rest", "o5/a/b/c"],
    ["parameters across", "o6/:a/x", "o6/y/:b"],
    ["the same", "o7/a", "o7/a"],
  ])("no route serves requests for the other's: %s", async (_, first, second) => {
    await allow(["*"]);
    const made = await create(acme, "acme", bodyOf("admin", first));
    expect(made.status).toBe(201);
    const refused = await create(evil, "evil", bodyOf("admin", second));
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("served by another one")]);
    expect(refused.text).not.toContain(made.text);
    expect((await create(evil, "evil", bodyOf("admin", second, { http_method: "put" }))).status).toBe(201);
    for (const { path } of (await acme("GET", "/w/acme/http_triggers/list")).json())
      await expectOk(acme("DELETE", `/w/acme/http_triggers/delete/${path}`));
    const answer = await create(evil, "evil", bodyOf("admin", second));
    expect(answer.status).toBe(201);
    await expectOk(evil("DELETE", `/w/evil/http_triggers/delete/${answer.text}`));
    for (const { path } of (await evil("GET", "/w/evil/http_triggers/list")).json())
      await expectOk(evil("DELETE", `/w/evil/http_triggers/delete/${path}`));
  });

  test("a prefix belongs to its workspace, with or without routes below it", async () => {
    await allow(["evil"]);
    const refused = await create(evil, "evil", bodyOf("admin", "acme/anything"));
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("id of another workspace")]);
    await expectOk(create(acme, "acme", bodyOf("admin", "own/:id", { workspaced_route: true })));
    expect((await create(evil, "evil", bodyOf("admin", ":any/own/7"))).status).toBe(400);
    await expectOk(create(evil, "evil", bodyOf("admin", "own/7", { workspaced_route: true })));
    expect((await nobody("POST", "/r/acme/own/7", {})).json()).toBe("acme");
    expect((await nobody("POST", "/r/evil/own/7", {})).json()).toBe("evil");
  });

  test("no workspace gets an id whose routes would match another's", async () => {
    const { ask: mover } = await server.workspace("mover");
    await deploy(mover, "mover", "u/admin/of", 'export const main = () => "mover"');
    await expectOk(create(mover, "mover", bodyOf("admin", "late/x", { workspaced_route: true })));
    await allow(["acme"]);
    await expectOk(create(acme, "acme", bodyOf("admin", "newname/late/:id")));
    const { ask: root } = await server.user("root2", { super_admin: true });
    const change = (new_id: string) => root("POST", "/w/mover/workspaces/change_workspace_id", { new_id });
    const refused = await change("newname");
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("another workspace")]);
    expect((await nobody("POST", "/r/newname/late/x", {})).json()).toBe("acme");
    expect((await change("othername")).status).toBe(200);
    expect((await nobody("POST", "/r/othername/late/x", {})).json()).toBe("mover");
  });
});

test("within a workspace, changing a route that overlaps another requires rights on both", async () => {
  const mine = bodyOf("admin", "pair/:id", { workspaced_route: true });
  await expectOk(create(evil, "evil", mine));
  const narrow = bodyOf("mallory", "pair/7", { workspaced_route: true });
  const refused = await create(author, "evil", narrow);
  expect([refused.status, refused.text]).toEqual([403, expect.stringContaining("another one")]);
  await expectOk(
    evil("POST", `/w/evil/acls/add/http_trigger/${mine.path}`, { owner: "u/mallory", write: true }),
  );
  expect((await create(author, "evil", narrow)).status).toBe(201);
});

test("of overlapping stored routes the owner of the prefix serves requests, then the older; the other shows the reason", async () => {
  await allow(["acme", "evil"]);
  const below = bodyOf("admin", "old/:id", { workspaced_route: true });
  await expectOk(create(acme, "acme", below));
  const older = bodyOf("admin", "ages/:id");
  await expectOk(create(acme, "acme", older));
  const thief = bodyOf("admin", "else/a");
  const second = bodyOf("admin", "else/b");
  for (const body of [thief, second]) await expectOk(create(evil, "evil", body));
  // As earlier versions stored them.
  const { app } = server.server;
  await app.db.write(async (tx) => {
    const at = (path: string) => and(eq(httpTriggers.workspace_id, "evil"), eq(httpTriggers.path, path));
    const early = { placed_at: null, edited_at: new Date(0) };
    await tx
      .update(httpTriggers)
      .set({ ...early, route_path: "acme/old/7" })
      .where(at(thief.path));
    await tx.update(httpTriggers).set({ placed_at: null, route_path: "ages/7" }).where(at(second.path));
  });
  invalidateRoutes(app);
  expect((await nobody("POST", "/r/acme/old/7", {})).json()).toBe("acme");
  expect((await nobody("POST", "/r/ages/7", {})).json()).toBe("acme");
  const listed = (await evil("GET", "/w/evil/http_triggers/list")).json();
  const errorOf = (path: string) => listed.find((row: any) => row.path === path).error;
  for (const { path } of [thief, second]) expect(errorOf(path)).toContain("another workspace");
  expect((await acme("GET", `/w/acme/http_triggers/get/${older.path}`)).json().error).toBeUndefined();
  // An update that leaves the older one's path unchanged has no conflict.
  await expectOk(acme("POST", `/w/acme/http_triggers/update/${older.path}`, { ...older, summary: "kept" }));
  expect((await nobody("POST", "/r/ages/7", {})).json()).toBe("acme");
  await expectOk(acme("DELETE", `/w/acme/http_triggers/delete/${older.path}`));
  expect((await nobody("POST", "/r/ages/7", {})).json()).toBe("evil");
});

test("a route set up by the local admin runs as the workspace's owner", async () => {
  const whoami = "export const main = () => process.env.WM_EMAIL";
  await deploy(acme, "acme", "u/admin/whoami", whoami);
  const body = bodyOf("admin", "local/whoami", { script_path: "u/admin/whoami" });
  await expectOk(create(server.operator, "acme", body));
  expect((await nobody("POST", "/r/local/whoami", {})).json()).toBe("admin_acme@example.org");
});
