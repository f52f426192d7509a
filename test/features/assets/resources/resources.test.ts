import { beforeAll, describe, expect, test } from "bun:test";
import { deploy, expectOk } from "../../../support/harness.ts";
import {
  askAs,
  create,
  getInterpolatedValue,
  RESOURCES,
  setUpResources,
  variable,
} from "./resources-setup.ts";

setUpResources();

const get = async (path: string, ask = askAs.dev!) =>
  (await expectOk(ask("GET", `${RESOURCES}/get/${path}`))).json();

const list = async (query: string, ask = askAs.dev!) =>
  (await expectOk(ask("GET", `${RESOURCES}/list${query}`))).json().map(({ path }: { path: string }) => path);

describe("a resource", () => {
  test("is created, read, changed, renamed, checked and deleted", async () => {
    const value = {
      host: "db",
      dbname: "main",
      port: 5432,
      nested: [null, { ü: true }],
      pointer: "$var:u/dev/none",
    };
    const answer = await create("u/dev/db", value, { resource_type: "postgresql", description: "main" });
    expect([answer.status, answer.text]).toEqual([201, "resource u/dev/db created"]);
    const record = {
      workspace_id: "acme",
      path: "u/dev/db",
      value,
      description: "main",
      resource_type: "postgresql",
      account: null,
      is_oauth: false,
      extra_perms: {},
      created_by: "dev",
      edited_at: expect.any(String),
    };
    expect(await get("u/dev/db")).toEqual(record);
    expect((await askAs.dev!("GET", `${RESOURCES}/get_value/u/dev/db`)).json()).toEqual(value);
    expect((await create("u/dev/db", 1)).status).toBe(400);
    await expectOk(askAs.dev!("POST", `${RESOURCES}/update/u/dev/db`, { description: "new", value: null }));
    expect(await get("u/dev/db")).toEqual({ ...record, description: "new", edited_at: expect.any(String) });
    await expectOk(askAs.dev!("POST", `${RESOURCES}/update_value/u/dev/db`, { value: null }));
    expect((await askAs.dev!("GET", `${RESOURCES}/get_value/u/dev/db`)).json()).toBeNull();
    const renamed = await askAs.dev!("POST", `${RESOURCES}/update/u/dev/db`, {
      path: "u/dev/db2",
      resource_type: "mysql",
    });
    expect(renamed.text).toStartWith("resource u/dev/db2 updated\nwarning: ");
    expect(await get("u/dev/db2")).toMatchObject({ resource_type: "mysql", value: null });
    const exists = async (path: string) => (await askAs.dev!("GET", `${RESOURCES}/exists/${path}`)).json();
    expect([await exists("u/dev/db"), await exists("u/dev/db2")]).toEqual([false, true]);
    await expectOk(askAs.dev!("DELETE", `${RESOURCES}/delete/u/dev/db2`));
    expect(await exists("u/dev/db2")).toBe(false);
    for (const operation of ["get", "get_value", "get_value_interpolated"]) {
      expect((await askAs.dev!("GET", `${RESOURCES}/${operation}/u/dev/db2`)).status).toBe(404);
    }
    expect((await askAs.dev!("POST", `${RESOURCES}/update_value/u/dev/db2`, { value: 1 })).status).toBe(404);
    expect((await askAs.dev!("DELETE", `${RESOURCES}/delete/u/dev/db2`)).status).toBe(404);
  });

  test("is replaced by update_if_exists, and keeps its creator", async () => {
    await expectOk(create("g/all/config", { v: 1 }, { description: "first" }));
    const again = `${RESOURCES}/create?update_if_exists=true`;
    const body = { path: "g/all/config", value: { v: 2 }, resource_type: "state", description: "second" };
    await expectOk(askAs.dev2!("POST", again, body));
    expect(await get("g/all/config")).toMatchObject({ ...body, created_by: "dev" });
    await expectOk(askAs.dev2!("POST", again, { ...body, path: "u/dev2/new" }));
    expect((await askAs.dev!("POST", again, { ...body, path: "u/dev2/new" })).status).toBe(403);
    expect((await get("u/dev2/new", askAs.dev2)).value).toEqual({ v: 2 });
  });

  test("cannot be renamed onto another one, nor to a path that the caller may not write", async () => {
    for (const path of ["u/dev/name", "u/dev/taken"]) await expectOk(create(path, 1));
    const rename = async (path: string) =>
      (await askAs.dev!("POST", `${RESOURCES}/update/u/dev/name`, { path })).status;
    expect([await rename("u/dev/taken"), await rename("u/dev2/name"), await rename("no path")]).toEqual([
      400, 403, 400,
    ]);
    expect((await get("u/dev/name")).value).toBe(1);
  });

  test("is stored unchanged as state by the calls that scripts make", async () => {
    await deploy(
      askAs.dev!,
      "acme",
      "u/dev/counts",
      `export async function main() {
        const at = (call: string) => process.env.BASE_INTERNAL_URL + "/api/w/" + process.env.WM_WORKSPACE + "/resources/" + call;
        const path = process.env.WM_STATE_PATH;
        const headers = { authorization: "Bearer " + process.env.WM_TOKEN, "content-type": "application/json" };
        const state = await fetch(at("get_value_interpolated/" + path), { headers });
        const count = state.status === 404 ? 1 : (await state.json()).count + 1;
        const exists = await (await fetch(at("exists/" + path), { headers })).json();
        const body = exists ? { value: { count } } : { path, value: { count }, resource_type: "state" };
        await fetch(at(exists ? "update_value/" + path : "create"), { method: "POST", headers, body: JSON.stringify(body) });
        return [state.status, count];
      }`,
    );
    const run = async () =>
      (await askAs.dev!("POST", "/w/acme/jobs/run_wait_result/p/u/dev/counts", {})).json();
    expect([await run(), await run(), await run()]).toEqual([
      [404, 1],
      [200, 2],
      [200, 3],
    ]);
  });
});

test.each([
  ["no path", { path: undefined }, "`path`"],
  ["a bad path", { path: "u/dev" }, "is not a path"],
  ["no value", { value: undefined }, "`value`"],
  ["no type", { resource_type: undefined }, "`resource_type`"],
  ["a type that is none", { resource_type: "a b" }, '"a b" cannot be a resource type'],
])("a resource with %s is rejected with the reason", async (_, change, message) => {
  const answer = await create("u/dev/bad", 1, change);
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(message)]);
});

test("read and write access: owners, groups and admins", async () => {
  for (const path of ["u/dev2/own", "g/all/shared"]) await expectOk(create(path, { a: 1 }, {}, askAs.dev2));
  const cases: [who: string, path: string, read: number, write: number][] = [
    ["dev2", "u/dev2/own", 200, 200],
    ["admin", "u/dev2/own", 200, 200],
    ["dev", "u/dev2/own", 404, 404],
    ["ops", "u/dev2/own", 404, 403],
    ["dev", "g/all/shared", 200, 200],
    ["ops", "g/all/shared", 200, 403],
  ];
  for (const [who, path, read, write] of cases) {
    const ask = askAs[who]!;
    const answers = [
      await ask("GET", `${RESOURCES}/get/${path}`),
      await ask("GET", `${RESOURCES}/get_value/${path}`),
      await getInterpolatedValue(path, "", ask),
      await ask("POST", `${RESOURCES}/update/${path}`, { description: who }),
      await ask("POST", `${RESOURCES}/update_value/${path}`, { value: { a: 1 } }),
    ];
    const statuses = [who, path, ...answers.map(({ status }) => status)];
    expect(statuses).toEqual([who, path, read, read, read, write, write]);
    expect([who, (await list(`?path_start=${path}`, ask)).length]).toEqual([who, read === 404 ? 0 : 1]);
  }
  expect((await askAs.dev!("DELETE", `${RESOURCES}/delete/u/dev2/own`)).status).toBe(404);
  expect((await create("u/dev2/other", 1)).status).toBe(403);
});

describe("the list", () => {
  beforeAll(async () => {
    const b = { host: "b", tags: ["x", { deep: 1 }], note: "Prod" };
    await expectOk(
      create("u/dev/list/a", { host: "a" }, { resource_type: "mysql", description: "The Old one" }),
    );
    await expectOk(create("u/dev/list/b", b, { resource_type: "postgresql" }));
    await expectOk(create("u/dev/list/c", { name: "Sea" }, { resource_type: "state" }));
    await variable("u/dev/list/c", "linked");
  });
  const json = (value: unknown) => encodeURIComponent(JSON.stringify(value));
  const base64 = (value: unknown) => encodeURIComponent(btoa(JSON.stringify(value)));
  const a = "u/dev/list/a";
  const b = "u/dev/list/b";
  const c = "u/dev/list/c";

  test.each([
    ["everything", "", [a, b, c]],
    ["a page", "&per_page=2&page=2", [c]],
    ["one type", "&resource_type=mysql", [a]],
    ["two types", "&resource_type=mysql,state", [a, c]],
    ["not two types", "&resource_type_exclude=state,%20mysql", [b]],
    ["one path", `&path=${b}`, [b]],
    ["a description, in any case", "&description=old", [a]],
    ["a value that holds JSON", `&value=${json({ host: "b" })}`, [b]],
    ["a value that holds JSON in base64", `&value=${base64({ tags: [{ deep: 1 }] })}`, [b]],
    ["a page of those with a text in the value", "&value=o&per_page=1&page=2", [b]],
    ["a page of those with a description", "&description=&per_page=1&page=3", [c]],
    ["no value", `&value=${base64({ host: "b", port: 1 })}`, []],
    ["a text in the value", "&value=prod", [b]],
  ])("filters: %s", async (_, query, paths) => {
    expect(await list(`?path_start=u/dev/list/${query}`)).toEqual(paths);
  });

  test("contains no values, and says which resource has a variable of the same path", async () => {
    const rows = (await askAs.dev!("GET", `${RESOURCES}/list?path_start=u/dev/list/`)).json();
    expect(rows.map(({ value }: any) => value)).toEqual([null, null, null]);
    expect(rows.map(({ is_linked }: any) => is_linked)).toEqual([false, false, true]);
    expect(rows[0]).toMatchObject({
      is_refreshed: false,
      is_expired: false,
      is_oauth: false,
      created_by: "dev",
    });
  });

  test("for searching has the values, the list of names only the names", async () => {
    const found = (await askAs.dev!("GET", `${RESOURCES}/list_search`)).json();
    expect(found).toContainEqual({ path: c, value: { name: "Sea" } });
    expect((await askAs.dev2!("GET", `${RESOURCES}/list_search`)).text).not.toContain(c);
    const names = async (type: string) => (await askAs.dev!("GET", `${RESOURCES}/list_names/${type}`)).json();
    expect(await names("mysql")).toEqual([{ name: "a", path: a }]);
    expect(await names("state")).toContainEqual({ name: "Sea", path: c });
  });
});

test("changes of resources are in the audit log", async () => {
  const rows = (await askAs.admin!("GET", "/w/acme/audit/list?per_page=1000")).json();
  const seen = new Set(rows.map(({ operation, action_kind }: any) => `${operation} ${action_kind}`));
  for (const row of ["resources.create Create", "resources.update Update", "resources.delete Delete"])
    expect(seen).toContain(row);
});
