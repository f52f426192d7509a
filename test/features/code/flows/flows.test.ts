/** Flows as items: versions, names, rights, lists. */
import { beforeAll, describe, expect, test } from "bun:test";
import { expectOk } from "../../../support/harness.ts";
import {
  admin,
  ann,
  bob,
  createOneStepFlow,
  ONE_STEP_FLOW,
  readRefusal,
  server,
  setUpFlows,
  viewer,
} from "./flows-setup.ts";

setUpFlows();

const two = createOneStepFlow("export const main = () => 2");
const contentOf = (flow: any) => flow.value.modules[0].value.content;

const at = (rest: string) => `/w/acme/flows/${rest}`;
const make = (path: string, more: object = {}) =>
  expectOk(ann("POST", at("create"), { path, summary: "", value: ONE_STEP_FLOW, ...more }));
const change = (path: string, more: object = {}, ask = ann) =>
  ask("POST", at(`update/${path}`), { path, summary: "", value: two, ...more });
const read = async (rest: string) => (await expectOk(ann("GET", at(rest)))).json();

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
      value: { modules: [{ id: "a", value: { ...ONE_STEP_FLOW.modules[0]!.value, lock: "" } }] },
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
    const body = { path: "u/ann/taken", summary: "", value: ONE_STEP_FLOW };
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
        contentOf({ value: ONE_STEP_FLOW }),
      ]);
    }
    for (const path of [
      `get/v/${oldest.id}/p/u/ann/other`,
      "get/v/999999",
      "get/v/x",
      `get/v/${"9".repeat(30)}`,
    ]) {
      expect(readRefusal(await ann("GET", at(path)))).toEqual([404, "NotFound"]);
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
      await expectOk(by("POST", `/w/${workspace}/flows/create`, { path, summary: "", value: ONE_STEP_FLOW }));
      ids.push((await expectOk(by("GET", `/w/${workspace}/flows/get/${path}`))).json().version_id);
    }
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
    expect(readRefusal(await ann("GET", at(`get/v/${ids[1]}`)))).toEqual([404, "NotFound"]);
  });

  test("is renamed with its history; the old path is free again", async () => {
    await make("u/ann/before");
    const renamed = await change("u/ann/before", { path: "u/ann/after" });
    expect([renamed.status, renamed.text]).toEqual([200, "u/ann/after"]);
    expect(await read("history/p/u/ann/after")).toHaveLength(2);
    expect(readRefusal(await ann("GET", at("get/u/ann/before")))).toEqual([404, "NotFound"]);
    await make("u/ann/before");
    const onto = await change("u/ann/before", { path: "u/ann/after" });
    expect([onto.status, onto.text]).toEqual([400, expect.stringContaining("a flow at u/ann/after already")]);
    expect(readRefusal(await change("u/ann/never"))).toEqual([404, "NotFound"]);
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
      expect(readRefusal(await ann("GET", at(path)))).toEqual([404, "NotFound"]);
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
    expect(readRefusal(await bob("GET", at(path)))).toEqual([404, "NotFound"]);
    expect(readRefusal(await viewer("GET", at(path)))).toEqual([404, "NotFound"]);
    const { version_id } = await read("get/u/ann/private");
    expect(readRefusal(await bob("GET", at(`get/v/${version_id}`)))).toEqual([404, "NotFound"]);
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
    expect(readRefusal(await bob(method, at(path), body))).toEqual([404, "NotFound"]);
    expect(readRefusal(await viewer(method, at(path), body))).toEqual([403, "Forbidden"]);
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
    expect(readRefusal(await change("u/ann/shared", {}, bob))).toEqual([403, "Forbidden"]);
    expect(readRefusal(await bob("DELETE", at("delete/u/ann/shared")))).toEqual([403, "Forbidden"]);
    await share(true);
    expect((await change("u/ann/shared", {}, bob)).status).toBe(200);
    expect((await read("get/u/ann/shared")).extra_perms).toEqual({ "u/bob": true });
    expect(readRefusal(await change("u/ann/shared", { path: "u/ann/moved" }, bob))).toEqual([
      403,
      "Forbidden",
    ]);
  });

  test("creation: at one's own path, on one's own behalf", async () => {
    const body = { path: "u/ann/by_bob", summary: "", value: ONE_STEP_FLOW };
    expect(readRefusal(await bob("POST", at("create"), body))).toEqual([403, "Forbidden"]);
    const behalf = {
      path: "u/bob/behalf",
      summary: "",
      value: ONE_STEP_FLOW,
      on_behalf_of_email: "ann@example.org",
    };
    expect(readRefusal(await bob("POST", at("create"), behalf))).toEqual([403, "Forbidden"]);
    expect((await admin("POST", at("create"), behalf)).status).toBe(201);
  });
});
