/** Flows as stored things: versions, names, who may do what, lists. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import {
  type Answer,
  type Ask,
  expectOk,
  startTestServer,
  type TestServer,
} from "../../../support/harness.ts";

let server: TestServer;
let admin: Ask;
let ann: Ask;
let bob: Ask;
let viewer: Ask;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask: admin } = await server.workspace());
  ({ ask: ann } = await server.member("acme", "ann"));
  ({ ask: bob } = await server.member("acme", "bob"));
  ({ ask: viewer } = await server.member("acme", "viewer", "operator"));
});
afterAll(() => server.stop());

const stepping = (content: string) => ({
  modules: [{ id: "a", value: { type: "rawscript", language: "bun", content, input_transforms: {} } }],
});
const one = stepping("export const main = () => 1");
const two = stepping("export const main = () => 2");
const contentOf = (flow: any) => flow.value.modules[0].value.content;

const at = (rest: string) => `/w/acme/flows/${rest}`;
const make = (path: string, more: object = {}) =>
  expectOk(ann("POST", at("create"), { path, summary: "", value: one, ...more }));
const change = (path: string, more: object = {}, ask = ann) =>
  ask("POST", at(`update/${path}`), { path, summary: "", value: two, ...more });
const read = async (rest: string) => (await expectOk(ann("GET", at(rest)))).json();
const told = (answer: Answer) => [answer.status, answer.headers.get("svc-error")];

describe("a flow", () => {
  test("is stored with all its fields", async () => {
    const metadata = {
      summary: "Handles orders",
      description: "One at a time",
      schema: { type: "object", properties: { n: { type: "number" } } },
      tag: "heavy",
      priority: 7,
      timeout: 60,
      ws_error_handler_muted: true,
      dedicated_worker: false,
      visible_to_runner_only: true,
      on_behalf_of_email: "ann@example.org",
    };
    const created = await make("u/ann/whole", { ...metadata, deployment_message: "first" });
    expect([created.status, created.text]).toEqual([201, "u/ann/whole"]);
    expect(await read("get/u/ann/whole")).toEqual({
      ...metadata,
      workspace_id: "acme",
      path: "u/ann/whole",
      version_id: expect.any(Number),
      value: { modules: [{ id: "a", value: { ...one.modules[0]!.value, lock: "" } }] },
      edited_by: "ann",
      edited_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      archived: false,
      draft_only: false,
      extra_perms: {},
      starred: false,
    });
    expect(await read("exists/u/ann/whole")).toBe(true);
    expect(await read("exists/u/ann/none")).toBe(false);
  });

  test("cannot be created at a used or invalid path", async () => {
    await make("u/ann/taken");
    const body = { path: "u/ann/taken", summary: "", value: one };
    const again = await ann("POST", at("create"), body);
    expect([again.status, again.text]).toEqual([
      400,
      expect.stringContaining("a flow at u/ann/taken already"),
    ]);
    const odd = await ann("POST", at("create"), { ...body, path: "order" });
    expect([odd.status, odd.text]).toEqual([400, expect.stringContaining('"order" is not a path')]);
  });

  test("gets a new version with each update; every version can be read by its number", async () => {
    await make("u/ann/grows", { deployment_message: "first" });
    const updated = await change("u/ann/grows", { summary: "Grown", deployment_message: "second" });
    expect([updated.status, updated.text]).toEqual([200, "u/ann/grows"]);
    const history = await read("history/p/u/ann/grows");
    expect(history.map((row: any) => row.deployment_msg)).toEqual(["second", "first"]);
    const [newest, oldest] = history;
    expect(newest.id).toBeGreaterThan(oldest.id);
    expect(await read("get_latest_version/u/ann/grows")).toEqual(newest);
    const current = await read("get/u/ann/grows");
    expect([current.version_id, current.summary, contentOf(current)]).toEqual([
      newest.id,
      "Grown",
      contentOf({ value: two }),
    ]);
    for (const path of [`get/v/${oldest.id}/p/u/ann/grows`, `get/v/${oldest.id}`]) {
      const old = await read(path);
      expect([old.version_id, old.path, contentOf(old)]).toEqual([
        oldest.id,
        "u/ann/grows",
        contentOf({ value: one }),
      ]);
    }
    for (const path of [
      `get/v/${oldest.id}/p/u/ann/other`,
      "get/v/999999",
      "get/v/x",
      `get/v/${"9".repeat(30)}`,
    ]) {
      expect(told(await ann("GET", at(path)))).toEqual([404, "NotFound"]);
    }
    const renamed = await ann("POST", at(`history_update/v/${oldest.id}/p/u/ann/grows`), {
      deployment_msg: "1st",
    });
    expect(renamed.status).toBe(200);
    expect((await read("history/p/u/ann/grows"))[1].deployment_msg).toBe("1st");
  });

  test("numbers of versions count over the instance", async () => {
    const { ask } = await server.workspace("other");
    const ids: number[] = [];
    for (const [workspace, path, by] of [
      ["acme", "u/ann/counted", ann],
      ["other", "u/admin/counted", ask],
      ["acme", "u/ann/counted2", ann],
    ] as const) {
      await expectOk(by("POST", `/w/${workspace}/flows/create`, { path, summary: "", value: one }));
      ids.push((await expectOk(by("GET", `/w/${workspace}/flows/get/${path}`))).json().version_id);
    }
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
    expect(told(await ann("GET", at(`get/v/${ids[1]}`)))).toEqual([404, "NotFound"]);
  });

  test("is renamed with its history; the old path is free again", async () => {
    await make("u/ann/before");
    const renamed = await change("u/ann/before", { path: "u/ann/after" });
    expect([renamed.status, renamed.text]).toEqual([200, "u/ann/after"]);
    expect(await read("history/p/u/ann/after")).toHaveLength(2);
    expect(told(await ann("GET", at("get/u/ann/before")))).toEqual([404, "NotFound"]);
    await make("u/ann/before");
    const onto = await change("u/ann/before", { path: "u/ann/after" });
    expect([onto.status, onto.text]).toEqual([400, expect.stringContaining("a flow at u/ann/after already")]);
    expect(told(await change("u/ann/never"))).toEqual([404, "NotFound"]);
  });

  test("is archived, restored, and replaced by a new version", async () => {
    await make("u/ann/old");
    await expectOk(ann("POST", at("archive/u/ann/old")));
    expect((await read("get/u/ann/old")).archived).toBe(true);
    expect(await read("exists/u/ann/old")).toBe(false);
    await expectOk(ann("POST", at("archive/u/ann/old"), { archived: false }));
    expect(await read("exists/u/ann/old")).toBe(true);
    await expectOk(ann("POST", at("archive/u/ann/old"), { archived: true }));
    await make("u/ann/old", { value: two });
    expect((await read("get/u/ann/old")).archived).toBe(false);
    expect(await read("history/p/u/ann/old")).toHaveLength(2);
  });

  test("is deleted with its history", async () => {
    await make("u/ann/gone");
    const { version_id } = await read("get/u/ann/gone");
    await expectOk(ann("DELETE", at("delete/u/ann/gone")));
    for (const path of ["get/u/ann/gone", "history/p/u/ann/gone", `get/v/${version_id}`]) {
      expect(told(await ann("GET", at(path)))).toEqual([404, "NotFound"]);
    }
    await make("u/ann/gone");
    expect(await read("history/p/u/ann/gone")).toHaveLength(1);
  });

  test("the workspace's error handler is muted for it, and unmuted", async () => {
    await make("u/ann/loud");
    const path = at("toggle_workspace_error_handler/u/ann/loud");
    await expectOk(ann("POST", path, { muted: true }));
    expect((await read("get/u/ann/loud")).ws_error_handler_muted).toBe(true);
    await expectOk(ann("POST", path, {}));
    expect((await read("get/u/ann/loud")).ws_error_handler_muted).toBe(false);
  });
});

describe("permissions", () => {
  beforeAll(() => make("u/ann/private"));

  const READS = ["get/u/ann/private", "history/p/u/ann/private", "get_latest_version/u/ann/private"];
  test.each(READS)("%s: the owner and admins, nobody else", async (path) => {
    expect((await admin("GET", at(path))).status).toBe(200);
    expect(told(await bob("GET", at(path)))).toEqual([404, "NotFound"]);
    expect(told(await viewer("GET", at(path)))).toEqual([404, "NotFound"]);
    const { version_id } = await read("get/u/ann/private");
    expect(told(await bob("GET", at(`get/v/${version_id}`)))).toEqual([404, "NotFound"]);
    for (const list of ["list", "list_paths", "list_search"]) {
      expect((await bob("GET", at(list))).text).not.toContain("u/ann/private");
      expect((await admin("GET", at(list))).text).toContain("u/ann/private");
    }
  });

  const WRITES: [method: string, path: string, body: object | undefined][] = [
    ["POST", "update/u/ann/private", { path: "u/ann/private", value: two }],
    ["POST", "archive/u/ann/private", {}],
    ["DELETE", "delete/u/ann/private", undefined],
    ["POST", "toggle_workspace_error_handler/u/ann/private", {}],
  ];
  test.each(WRITES)("%s %s: not without read access, not for operators", async (method, path, body) => {
    expect(told(await bob(method, at(path), body))).toEqual([404, "NotFound"]);
    expect(told(await viewer(method, at(path), body))).toEqual([403, "Forbidden"]);
  });

  test("shared items can be read, and changed if shared for writing", async () => {
    await make("u/ann/shared");
    const share = async (entry: boolean) => {
      const { flows } = await import("../../../../src/features/code/flows/tables.ts");
      const { eq } = await import("drizzle-orm");
      await server.server.app.db.write((tx) =>
        tx
          .update(flows)
          .set({ extra_perms: { "u/bob": entry } })
          .where(eq(flows.path, "u/ann/shared")),
      );
    };
    await share(false);
    expect((await bob("GET", at("get/u/ann/shared"))).status).toBe(200);
    expect(told(await change("u/ann/shared", {}, bob))).toEqual([403, "Forbidden"]);
    expect(told(await bob("DELETE", at("delete/u/ann/shared")))).toEqual([403, "Forbidden"]);
    await share(true);
    expect((await change("u/ann/shared", {}, bob)).status).toBe(200);
    expect((await read("get/u/ann/shared")).extra_perms).toEqual({ "u/bob": true });
    expect(told(await change("u/ann/shared", { path: "u/ann/moved" }, bob))).toEqual([403, "Forbidden"]);
  });

  test("creation: at one's own path, on one's own behalf", async () => {
    const body = { path: "u/ann/by_bob", summary: "", value: one };
    expect(told(await bob("POST", at("create"), body))).toEqual([403, "Forbidden"]);
    const behalf = { path: "u/bob/behalf", summary: "", value: one, on_behalf_of_email: "ann@example.org" };
    expect(told(await bob("POST", at("create"), behalf))).toEqual([403, "Forbidden"]);
    expect((await admin("POST", at("create"), behalf)).status).toBe(201);
  });
});

test("lists apply their filters, newest first", async () => {
  const { ask } = await server.workspace("listed");
  const base = "/w/listed/flows";
  const create = (path: string, more: object = {}) =>
    expectOk(ask("POST", `${base}/create`, { path, summary: `of ${path}`, value: one, ...more }));
  await create("f/shop/a", { description: "long", deployment_message: "why" });
  await create("f/shop/b", { dedicated_worker: true });
  await create("f/home/c");
  await create("f/home/old");
  await expectOk(ask("POST", `${base}/archive/f/home/old`));
  await create("f/home/draft", {
    draft_only: true,
    value: { modules: [{ id: "!", value: one.modules[0]!.value }] },
  });
  await expectOk(ask("POST", "/w/listed/drafts/create", { path: "f/shop/a", typ: "flow", value: 1 }));
  const paths = async (query: string) =>
    (await expectOk(ask("GET", `${base}/list?${query}`))).json().map((row: any) => row.path);
  expect(await paths("")).toEqual(["f/home/c", "f/shop/b", "f/shop/a"]);
  expect(await paths("order_desc=false&per_page=2")).toEqual(["f/shop/a", "f/shop/b"]);
  expect(await paths("order_desc=false&per_page=2&page=2")).toEqual(["f/home/c"]);
  expect(await paths("path_start=f/shop")).toEqual(["f/shop/b", "f/shop/a"]);
  expect(await paths("path_exact=f/shop/a")).toEqual(["f/shop/a"]);
  expect(await paths("created_by=admin&show_archived=true")).toEqual(["f/home/old"]);
  expect(await paths("created_by=nobody")).toEqual([]);
  expect(await paths("dedicated_worker=true")).toEqual(["f/shop/b"]);
  expect(await paths("dedicated_worker=false")).toEqual(["f/home/c", "f/shop/a"]);
  expect(await paths("include_draft_only=true&path_start=f/home")).toEqual(["f/home/draft", "f/home/c"]);
  expect(await paths("starred_only=true")).toEqual([]);
  const [row] = (await ask("GET", `${base}/list?path_exact=f/shop/a&with_deployment_msg=true`)).json();
  expect(row).toMatchObject({
    summary: "of f/shop/a",
    description: "long",
    deployment_msg: "why",
    has_draft: true,
  });
  expect(row.value).toBeUndefined();
  const [light] = (await ask("GET", `${base}/list?path_exact=f/shop/a&without_description=true`)).json();
  expect(light).not.toHaveProperty("description");
  expect(light).not.toHaveProperty("deployment_msg");
  const all = ["f/home/c", "f/home/draft", "f/shop/a", "f/shop/b"];
  expect((await ask("GET", `${base}/list_paths`)).json()).toEqual(all);
  const found = (await ask("GET", `${base}/list_search`)).json();
  expect(found.map((each: any) => [each.path, each.value.modules.length])).toEqual(
    all.map((path) => [path, 1]),
  );
  const runnables = (await ask("GET", "/users/all_runnables")).json();
  expect(runnables.map((each: any) => each.path)).toEqual(["f/home/c", "f/shop/a", "f/shop/b"]);
  expect(runnables[1]).toEqual({
    workspace: "listed",
    path: "f/shop/a",
    kind: "flow",
    summary: "of f/shop/a",
    description: "long",
    schema: null,
    endpoint_async: "/w/listed/jobs/run/f/f/shop/a",
    endpoint_sync: "/w/listed/jobs/run_wait_result/f/f/shop/a",
    endpoint_ai_sync: "/w/listed/jobs/ai_sync/f/f/shop/a",
    endpoint_openai_sync: "/w/listed/jobs/openai_sync/f/f/shop/a",
  });
});

test("each change leaves an audit row with its user", async () => {
  const { ask } = await server.workspace("watched");
  const base = "/w/watched/flows";
  const body = { path: "u/admin/seen", summary: "", value: one };
  await expectOk(ask("POST", `${base}/create`, body));
  await expectOk(ask("POST", `${base}/update/u/admin/seen`, { ...body, path: "u/admin/moved" }));
  await expectOk(ask("POST", `${base}/archive/u/admin/moved`));
  await expectOk(ask("DELETE", `${base}/delete/u/admin/moved`));
  await ask("POST", `${base}/create`, { ...body, value: { modules: 1 } });
  const rows = (await ask("GET", "/w/watched/audit/list")).json();
  const told = rows.map((row: any) => [row.operation, row.action_kind, row.resource, row.parameters]);
  expect(told.slice(0, 4)).toEqual([
    ["flows.delete", "Delete", "u/admin/moved", null],
    ["flows.archive", "Update", "u/admin/moved", null],
    ["flows.update", "Update", "u/admin/moved", { old_path: "u/admin/seen" }],
    ["flows.create", "Create", "u/admin/seen", null],
  ]);
  expect(told.filter(([operation]: [string]) => operation === "flows.create")).toHaveLength(1);
});
