/** Lists of flows, and the audit rows of their changes. */
import { expect, test } from "bun:test";
import { expectOk } from "../../../support/harness.ts";
import { ONE_STEP_FLOW, server, setUpFlows } from "./flows-setup.ts";

setUpFlows();

test("lists apply their filters, newest first", async () => {
  const { ask } = await server.workspace("listed");
  const base = "/w/listed/flows";
  const create = (path: string, more: object = {}) =>
    expectOk(ask("POST", `${base}/create`, { path, summary: `of ${path}`, value: ONE_STEP_FLOW, ...more }));
  await create("f/shop/a", { description: "long", deployment_message: "why" });
  await create("f/shop/b", { dedicated_worker: true });
  await create("f/home/c");
  await create("f/home/old");
  await expectOk(ask("POST", `${base}/archive/f/home/old`));
  await create("f/home/draft", {
    draft_only: true,
    value: { modules: [{ id: "!", value: ONE_STEP_FLOW.modules[0]!.value }] },
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
  const body = { path: "u/admin/seen", summary: "", value: ONE_STEP_FLOW };
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
