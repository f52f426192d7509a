import { expect, test } from "bun:test";
import { type Ask, expectOk, startTestServer } from "../../../support/harness.ts";

const policy = { execution_mode: "viewer", triggerables_v2: {} };
const app = (path: string, more: object = {}) => ({
  path,
  value: { grid: [1] },
  summary: "An app",
  policy,
  ...more,
});
const create = (ask: Ask, body: object) => ask("POST", "/w/acme/apps/create", body);
const get = async (ask: Ask, path: string) => (await ask("GET", `/w/acme/apps/get/p/${path}`)).json();

test("an app is stored, read, changed in versions, listed and deleted", async () => {
  await using server = await startTestServer();
  const { ask } = await server.workspace();
  const path = "u/admin/orders";
  const created = await create(ask, app(path, { deployment_message: "first" }));
  expect([created.status, created.text]).toEqual([201, path]);
  const first = await get(ask, path);
  expect(first).toEqual({
    id: expect.any(Number),
    workspace_id: "acme",
    path,
    summary: "An app",
    versions: [expect.any(Number)],
    created_by: "admin",
    created_at: expect.any(String),
    value: { grid: [1] },
    policy: { ...policy, on_behalf_of: "u/admin", on_behalf_of_email: "admin_acme@example.org" },
    execution_mode: "viewer",
    extra_perms: {},
    raw_app: false,
    custom_path: null,
    draft_only: false,
  });

  const update = (body: object) => ask("POST", `/w/acme/apps/update/${path}`, body);
  expect((await expectOk(update({ summary: "Orders" }))).text).toBe(path);
  expect(await get(ask, path)).toEqual({ ...first, summary: "Orders" });
  await expectOk(update({ value: { grid: [2] }, deployment_message: "second" }));
  const second = await get(ask, path);
  expect([second.value, second.versions.length, second.summary]).toEqual([{ grid: [2] }, 2, "Orders"]);
  const [v1, v2] = second.versions;
  const lite = (await expectOk(ask("GET", `/w/acme/apps/get/lite/${path}`))).json();
  expect(lite).toEqual({ ...second, versions: [v2] });
  expect((await ask("GET", `/w/acme/apps/get/v/${v1}`)).json()).toMatchObject({ path, value: { grid: [1] } });
  const history = async () => (await ask("GET", `/w/acme/apps/history/p/${path}`)).json();
  expect(await history()).toEqual([
    { version: v2, deployment_msg: "second" },
    { version: v1, deployment_msg: "first" },
  ]);
  const say = (id: number, version: number) =>
    ask("POST", `/w/acme/apps/history_update/a/${id}/v/${version}`, { deployment_msg: "the first" });
  await expectOk(say(first.id, v1));
  expect((await say(first.id + 1, v1)).status).toBe(404);
  expect((await history())[1]).toEqual({ version: v1, deployment_msg: "the first" });

  expect((await ask("GET", "/w/acme/apps/list?with_deployment_msg=true")).json()).toEqual([
    {
      id: first.id,
      workspace_id: "acme",
      path,
      summary: "Orders",
      version: v2,
      extra_perms: {},
      edited_at: second.created_at,
      execution_mode: "viewer",
      draft_only: false,
      has_draft: false,
      raw_app: false,
      starred: false,
      deployment_msg: "second",
    },
  ]);
  expect((await ask("GET", "/w/acme/apps/list_search")).json()).toEqual([{ path, value: { grid: [2] } }]);
  const exists = async () => (await ask("GET", `/w/acme/apps/exists/${path}`)).json();
  expect(await exists()).toBe(true);
  await expectOk(ask("DELETE", `/w/acme/apps/delete/${path}`));
  expect([await exists(), (await ask("GET", `/w/acme/apps/get/v/${v1}`)).status]).toEqual([false, 404]);
  const audit = (await ask("GET", "/w/acme/audit/list?operation=apps.")).json();
  expect(audit.map((row: any) => `${row.operation} ${row.resource}`)).toEqual([
    `apps.delete ${path}`,
    `apps.update ${path}`,
    `apps.update ${path}`,
    `apps.update ${path}`,
    `apps.create ${path}`,
  ]);
});

test("lists filter and order", async () => {
  await using server = await startTestServer();
  const { ask } = await server.workspace();
  const ann = await server.member("acme", "ann");
  for (const path of ["u/admin/a", "u/admin/b", "f/team/c"]) await expectOk(create(ask, app(path)));
  await expectOk(create(ann.ask, app("u/ann/d")));
  await expectOk(create(ask, app("u/admin/e", { draft_only: true })));
  const cases: [query: string, paths: string[]][] = [
    ["", ["u/ann/d", "f/team/c", "u/admin/b", "u/admin/a"]],
    ["order_desc=false", ["u/admin/a", "u/admin/b", "f/team/c", "u/ann/d"]],
    ["path_start=u/admin", ["u/admin/b", "u/admin/a"]],
    ["path_exact=u/admin/a", ["u/admin/a"]],
    ["created_by=ann", ["u/ann/d"]],
    ["include_draft_only=true&path_start=u/admin/e", ["u/admin/e"]],
    ["page=2&per_page=3", ["u/admin/a"]],
    ["starred_only=true", []],
  ];
  for (const [query, paths] of cases) {
    const rows = (await ask("GET", `/w/acme/apps/list?${query}`)).json();
    expect([query, rows.map((row: any) => row.path)]).toEqual([query, paths]);
  }
  const own = (await ann.ask("GET", "/w/acme/apps/list")).json();
  expect(own.map((row: any) => row.path)).toEqual(["u/ann/d"]);
});

test("users without the right can neither read nor write an app", async () => {
  await using server = await startTestServer();
  const { ask } = await server.workspace();
  const ann = await server.member("acme", "ann");
  const olga = await server.member("acme", "olga", "operator");
  const other = await server.workspace("other");
  const path = "u/admin/orders";
  await expectOk(create(ask, app(path)));
  const { versions } = await get(ask, path);
  const cases: [who: string, asked: Promise<{ status: number }>, status: number][] = [
    ["ann reads", ann.ask("GET", `/w/acme/apps/get/p/${path}`), 404],
    ["ann reads a version", ann.ask("GET", `/w/acme/apps/get/v/${versions[0]}`), 404],
    [
      "another workspace's admin reads a version",
      other.ask("GET", `/w/other/apps/get/v/${versions[0]}`),
      404,
    ],
    ["ann reads the history", ann.ask("GET", `/w/acme/apps/history/p/${path}`), 404],
    ["ann reads the secret", ann.ask("GET", `/w/acme/apps/secret_of/${path}`), 404],
    ["ann updates", ann.ask("POST", `/w/acme/apps/update/${path}`, { summary: "x" }), 404],
    ["ann deletes", ann.ask("DELETE", `/w/acme/apps/delete/${path}`), 404],
    ["ann creates elsewhere", create(ann.ask, app("u/admin/mine")), 403],
    [
      "ann renames to elsewhere",
      (async () => {
        await create(ann.ask, app("u/ann/own"));
        return ann.ask("POST", "/w/acme/apps/update/u/ann/own", { path: "u/admin/stolen" });
      })(),
      403,
    ],
    ["ann sets a custom path", create(ann.ask, app("u/ann/custom", { custom_path: "home" })), 403],
    ["an operator creates", create(olga.ask, app("u/olga/a")), 403],
    ["a taken path", create(ask, app(path)), 400],
    ["a bad path", create(ask, app("nowhere")), 400],
    ["no value", create(ask, { ...app("u/admin/x"), value: null }), 400],
    ["a bad policy", create(ask, { ...app("u/admin/x"), policy: { execution_mode: "root" } }), 400],
    ["a version that is not a number", ask("GET", "/w/acme/apps/get/v/x"), 404],
    ["nothing there", ask("POST", "/w/acme/apps/update/u/admin/none", {}), 404],
  ];
  for (const [who, asked, status] of cases) expect([who, (await asked).status]).toEqual([who, status]);
});

test("a rename keeps versions and frees the old path; the app runs as the user who deployed the policy", async () => {
  await using server = await startTestServer();
  const { ask } = await server.workspace();
  const second = await server.member("acme", "sam", "admin");
  await expectOk(create(ask, app("u/admin/old")));
  await expectOk(create(ask, app("u/admin/taken")));
  const rename = (path: string) => ask("POST", "/w/acme/apps/update/u/admin/old", { path });
  expect((await rename("u/admin/taken")).status).toBe(400);
  expect((await expectOk(rename("u/admin/new"))).text).toBe("u/admin/new");
  expect((await ask("GET", "/w/acme/apps/exists/u/admin/old")).json()).toBe(false);
  const forged = {
    ...policy,
    execution_mode: "publisher",
    on_behalf_of: "u/admin",
    on_behalf_of_email: "admin_acme@example.org",
  };
  await expectOk(second.ask("POST", "/w/acme/apps/update/u/admin/new", { policy: forged }));
  expect((await get(ask, "u/admin/new")).policy).toMatchObject({
    on_behalf_of: "u/sam",
    on_behalf_of_email: "sam@example.org",
  });
});

test("drafts are stored beside an app and deleted by a deployment; an undeployed app has no history", async () => {
  await using server = await startTestServer();
  const { ask } = await server.workspace();
  const path = "u/admin/orders";
  await expectOk(create(ask, app(path, { draft_only: true })));
  const before = await get(ask, path);
  expect(before.draft_only).toBe(true);
  await expectOk(create(ask, app(path, { value: { grid: [2] } })));
  const deployed = await get(ask, path);
  expect([deployed.draft_only, deployed.versions.length, deployed.value]).toEqual([false, 1, { grid: [2] }]);
  await expectOk(ask("POST", "/w/acme/drafts/create", { path, typ: "app", value: { grid: [3] } }));
  const withDraft = async () => (await ask("GET", `/w/acme/apps/get/draft/${path}`)).json();
  expect([(await withDraft()).draft, (await withDraft()).value]).toEqual([{ grid: [3] }, { grid: [2] }]);
  expect((await ask("GET", "/w/acme/apps/list")).json()[0].has_draft).toBe(true);
  await expectOk(ask("POST", `/w/acme/apps/update/${path}`, { value: { grid: [3] } }));
  expect("draft" in (await withDraft())).toBe(false);
});

test("a public app is found by its secret or its custom path; others need a login", async () => {
  await using server = await startTestServer();
  const { ask } = await server.workspace();
  const ann = await server.member("acme", "ann");
  const other = await server.workspace("other");
  const nobody = server.as(undefined);
  const path = "u/admin/shop";
  const anonymous = {
    execution_mode: "anonymous",
    triggerables_v2: { "a:script/u/admin/x": { static_inputs: { key: "hidden" } } },
  };
  await expectOk(create(ask, app(path, { policy: anonymous, custom_path: "shop/home" })));
  const secret = (await expectOk(ask("GET", `/w/acme/apps/secret_of/${path}`))).text;
  const bySecret = (who: Ask, at = secret, workspace = "acme") =>
    who("GET", `/w/${workspace}/apps_u/public_app/${at}`);
  const byPath = (who: Ask) => who("GET", "/apps_u/public_app_by_custom_path/shop/home");
  for (const answer of [await bySecret(nobody), await byPath(nobody), await bySecret(other.ask)]) {
    expect([answer.status, answer.json()]).toMatchObject([
      200,
      { path, value: { grid: [1] }, policy: { execution_mode: "anonymous" } },
    ]);
    expect(answer.text).not.toContain("hidden");
    expect(answer.text).not.toContain("admin_acme@");
  }
  const id = secret.split("-")[0];
  for (const wrong of [
    `${id}-${"0".repeat(64)}`,
    `${Number(id) + 1}-${secret.split("-")[1]}`,
    "x",
    secret.slice(0, -1),
  ]) {
    expect([wrong, (await bySecret(nobody, wrong)).status]).toEqual([wrong, 404]);
  }
  expect((await bySecret(nobody, secret, "other")).status).toBe(404);
  expect((await bySecret(nobody, secret, "nowhere")).status).toBe(404);
  expect((await ask("GET", "/w/acme/apps/custom_path_exists/shop/home")).json()).toBe(true);
  expect((await create(ask, app("u/admin/second", { custom_path: "shop/home" }))).status).toBe(400);
  expect((await create(ask, app("u/admin/second", { custom_path: "/../x" }))).status).toBe(400);

  await expectOk(
    ask("POST", `/w/acme/apps/update/${path}`, { policy: { ...anonymous, execution_mode: "publisher" } }),
  );
  const refused: [who: Ask, status: number][] = [
    [nobody, 401],
    [other.ask, 401],
    [ann.ask, 404],
    [ask, 200],
  ];
  for (const [who, status] of refused) {
    expect([(await bySecret(who)).status, (await byPath(who)).status]).toEqual([status, status]);
  }
  await expectOk(ask("POST", `/w/acme/apps/update/${path}`, { custom_path: "" }));
  expect((await byPath(ask)).status).toBe(404);
  await expectOk(ask("DELETE", `/w/acme/apps/delete/${path}`));
  expect((await bySecret(nobody)).status).toBe(404);
});

test("themes are public, other resources are not", async () => {
  await using server = await startTestServer();
  const { ask } = await server.workspace();
  for (const [path, resource_type] of [
    ["f/app_themes/dark", "app_theme"],
    ["f/app_themes/bucket", "s3"],
    ["u/admin/secret", "app_theme"],
  ]) {
    await expectOk(
      ask("POST", "/w/acme/resources/create", { path, value: { color: "black" }, resource_type }),
    );
  }
  const nobody = server.as(undefined);
  expect((await nobody("GET", "/w/acme/apps_u/public_resource/f/app_themes/dark")).json()).toEqual({
    color: "black",
  });
  for (const name of ["none", "bucket"]) {
    expect((await nobody("GET", `/w/acme/apps_u/public_resource/f/app_themes/${name}`)).status).toBe(404);
  }
  expect((await nobody("GET", "/w/acme/apps_u/public_resource/u/admin/secret")).status).toBe(400);
});
