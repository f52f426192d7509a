import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { auditLog } from "../../../../src/features/signals/audit/tables.ts";
import { STORED_KINDS } from "../../../../src/features/triggers/common/stored/kinds.ts";
import { type Ask, deploy, expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

let server: TestServer;
const as: Record<string, Ask> = {};

beforeAll(async () => {
  server = await startTestServer();
  as.admin = (await server.workspace()).ask;
  for (const name of ["ann", "bob", "cid"]) as[name] = (await server.member("acme", name)).ask;
  as.operator = (await server.member("acme", "ops", "operator")).ask;
  as.root = (await server.user("root", { super_admin: true })).ask;
});
afterAll(() => server.stop());

const post = (who: string, path: string, body: object = {}) =>
  as[who]!("POST", `/w/acme/folders/${path}`, body);
const get = (who: string, path: string) => as[who]!("GET", `/w/acme/folders/${path}`);

const DEFAULTS = ["app_custom", "app_groups", "app_themes"];

describe("a folder", () => {
  test("is owned by its creator and the given owners", async () => {
    const answer = await post("ann", "create", {
      name: "plans",
      summary: "What is to come",
      owners: ["u/bob"],
      extra_perms: { "g/all": false, "u/bob": false },
    });
    expect([answer.status, answer.text]).toEqual([200, "folder plans created"]);
    expect((await get("cid", "get/plans")).json()).toEqual({
      workspace_id: "acme",
      name: "plans",
      display_name: "plans",
      summary: "What is to come",
      owners: ["u/ann", "u/bob"],
      extra_perms: { "g/all": false, "u/ann": true, "u/bob": true },
      created_by: "ann",
      edited_at: expect.any(String),
    });
    for (const [who, owns] of [
      ["ann", true],
      ["bob", true],
      ["cid", false],
      ["admin", false],
    ] as const) {
      expect([who, (await get(who, "is_owner/plans")).json()]).toEqual([who, owns]);
    }
  });

  test("is listed for users who may read in it; admins see all, or only theirs on request", async () => {
    await expectOk(post("ann", "create", { name: "quiet" }));
    expect((await get("cid", "listnames")).json()).toEqual([...DEFAULTS, "plans"]);
    expect((await get("ann", "listnames")).json()).toEqual([...DEFAULTS, "plans", "quiet"]);
    expect((await get("admin", "listnames")).json()).toContain("quiet");
    expect((await get("admin", "listnames?only_member_of=true")).json()).toEqual([...DEFAULTS, "plans"]);
    expect((await get("root", "listnames")).json()).toContain("quiet");
    const names = (answer: { json: () => { name: string }[] }) => answer.json().map(({ name }) => name);
    expect(names(await get("cid", "list"))).toEqual([...DEFAULTS, "plans"]);
    expect(names(await get("ann", "list?per_page=2&page=2"))).toEqual(["app_themes", "plans"]);
    expect((await get("cid", "get/quiet")).status).toBe(404);
    expect((await get("cid", "getusage/quiet")).status).toBe(404);
    expect((await get("cid", "exists/quiet")).json()).toBe(true);
    expect((await get("cid", "exists/nowhere")).json()).toBe(false);
  });

  test("gets and loses owners, who keep the right that the call names", async () => {
    await expectOk(post("ann", "create", { name: "hands" }));
    expect((await post("bob", "addowner/hands", { owner: "u/bob" })).status).toBe(404);
    await expectOk(post("ann", "addowner/hands", { owner: "u/bob" }));
    await expectOk(post("ann", "addowner/hands", { owner: "u/bob" }));
    await expectOk(post("bob", "removeowner/hands", { owner: "u/ann", write: false }));
    expect((await get("ann", "get/hands")).json()).toMatchObject({
      owners: ["u/bob"],
      extra_perms: { "u/bob": true, "u/ann": false },
    });
    expect((await post("ann", "addowner/hands", { owner: "u/ann" })).status).toBe(403);
    await expectOk(post("bob", "removeowner/hands", { owner: "u/bob" }));
    expect((await get("bob", "get/hands")).status).toBe(404);
    expect((await get("admin", "get/hands")).json()).toMatchObject({
      owners: [],
      extra_perms: { "u/ann": false },
    });
  });

  test("is updated in part; a former owner keeps no right", async () => {
    await expectOk(post("ann", "create", { name: "parts", summary: "one", extra_perms: { "u/cid": true } }));
    await expectOk(post("ann", "update/parts", { summary: "two" }));
    expect((await get("ann", "get/parts")).json()).toMatchObject({
      summary: "two",
      owners: ["u/ann"],
      extra_perms: { "u/ann": true, "u/cid": true },
    });
    await expectOk(post("ann", "update/parts", { owners: ["u/bob"] }));
    expect((await get("bob", "get/parts")).json()).toMatchObject({
      summary: "two",
      owners: ["u/bob"],
      extra_perms: { "u/bob": true, "u/cid": true },
    });
    expect((await get("ann", "get/parts")).status).toBe(404);
    await expectOk(post("bob", "update/parts", { extra_perms: { "g/all": false } }));
    expect((await get("bob", "get/parts")).json().extra_perms).toEqual({ "u/bob": true, "g/all": false });
  });

  test("counts its items by kind", async () => {
    await expectOk(post("ann", "create", { name: "counted" }));
    const ann = as.ann!;
    await deploy(ann, "acme", "f/counted/a", "export const main = () => 1");
    await deploy(ann, "acme", "f/counted/a", "export const main = () => 2");
    await deploy(ann, "acme", "f/counted/b", "export const main = () => 1");
    await expectOk(ann("POST", "/w/acme/scripts/archive/p/f/counted/b"));
    const variable = { value: "1", is_secret: false, description: "" };
    for (const name of ["x", "y"]) {
      await expectOk(ann("POST", "/w/acme/variables/create", { ...variable, path: `f/counted/${name}` }));
    }
    for (const kind of ["apps", "raw_apps"]) {
      const app = { path: `f/counted/${kind}`, summary: "", value: kind === "apps" ? {} : "1", policy: {} };
      await expectOk(ann("POST", `/w/acme/${kind}/create`, app));
    }
    await expectOk(post("ann", "create", { name: "counted_too" }));
    await expectOk(ann("POST", "/w/acme/variables/create", { ...variable, path: "f/counted_too/x" }));
    expect((await get("ann", "getusage/counted")).json()).toEqual({
      scripts: 1,
      flows: 0,
      apps: 2,
      resources: 0,
      variables: 2,
      schedules: 0,
      http_triggers: 0,
      websocket_triggers: 0,
      ...Object.fromEntries(STORED_KINDS.map(({ kind }) => [`${kind}_triggers`, 0])),
    });
  });

  test("leaves its items to admins when deleted; then only an admin can create it again", async () => {
    await expectOk(post("ann", "create", { name: "left", owners: ["u/bob"] }));
    const variable = { path: "f/left/x", value: "1", is_secret: false, description: "" };
    await expectOk(as.ann!("POST", "/w/acme/variables/create", variable));
    expect((await as.cid!("DELETE", "/w/acme/folders/delete/left")).status).toBe(404);
    await expectOk(as.bob!("DELETE", "/w/acme/folders/delete/left"));
    expect((await get("ann", "exists/left")).json()).toBe(false);
    expect((await as.ann!("GET", "/w/acme/variables/get/f/left/x")).status).toBe(404);
    expect((await as.admin!("GET", "/w/acme/variables/get/f/left/x")).status).toBe(200);
    const again = await post("cid", "create", { name: "left" });
    expect([again.status, again.text]).toEqual([
      403,
      expect.stringContaining("an admin must create the folder"),
    ]);
    await expectOk(post("admin", "create", { name: "left", owners: ["u/cid"] }));
    expect((await as.cid!("GET", "/w/acme/variables/get/f/left/x")).status).toBe(200);
  });

  const LEFT: Record<string, (path: string) => Promise<unknown>> = {
    "an archived script": async (path) => {
      await deploy(as.admin!, "acme", path, "export const main = () => 1");
      await expectOk(as.admin!("POST", `/w/acme/scripts/archive/p/${path}`));
    },
    "a job": (path) =>
      expectOk(
        as.admin!("POST", "/w/acme/jobs/run_wait_result/preview", {
          path,
          content: "export const main = () => 1",
          language: "bun",
        }),
      ),
    "a draft": (path) =>
      expectOk(as.admin!("POST", "/w/acme/drafts/create", { path, typ: "script", value: {} })),
  };

  test.each(Object.keys(LEFT))("in which %s remains can be created by an admin only", async (what) => {
    const name = what.replaceAll(" ", "_");
    await LEFT[what]!(`f/${name}/x`);
    expect((await post("cid", "create", { name })).status).toBe(403);
    expect((await post("admin", "create", { name })).status).toBe(200);
  });

  test("is created once by concurrent calls", async () => {
    const answers = await Promise.all(
      Array.from({ length: 8 }, () => post("ann", "create", { name: "race" })),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(7).fill(400)]);
  });

  test.each([
    ["a taken name", { name: "plans" }, "there is a folder plans already"],
    [
      "the name of one that all workspaces have",
      { name: "app_themes" },
      "there is a folder app_themes already",
    ],
    ["a slash", { name: "a/b" }, '"a/b" cannot be a folder'],
    ["no name", {}, "`name`"],
    ["51 characters", { name: "a".repeat(51) }, "50 characters"],
    ["an owner of control characters", { name: "bad", owners: ["a\nb"] }, "`owners`: a name must have"],
    ["an owner without a name", { name: "bad", owners: [""] }, "`owners`: a name must have"],
    [
      "an entry without end",
      { name: "bad", extra_perms: { ["x".repeat(256)]: true } },
      "`extra_perms`: a name must have",
    ],
    ["an entry that is no yes or no", { name: "bad", extra_perms: { "u/ann": 1 } }, "`extra_perms"],
  ])("with %s is refused with the reason", async (_, body, message) => {
    const answer = await post("ann", "create", body);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(message)]);
  });

  test.each([
    ["addowner", { owner: "u/nobody" }, "there is no user nobody"],
    ["addowner", { owner: "g/nobody" }, "there is no group nobody"],
    ["addowner", {}, "`owner`"],
    ["removeowner", { owner: "u/cid" }, "u/cid does not own folder plans"],
  ])("refuses %s %p", async (verb, body, message) => {
    const answer = await post("ann", `${verb}/plans`, body);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(message)]);
  });

  test("cannot be changed by an operator, even as its owner", async () => {
    await expectOk(post("admin", "create", { name: "ops", owners: ["u/ops"] }));
    expect((await get("operator", "is_owner/ops")).json()).toBe(true);
    for (const [verb, body] of [
      ["create", { name: "mine" }],
      ["update/ops", { summary: "mine" }],
      ["addowner/ops", { owner: "u/ann" }],
    ] as const) {
      expect((await post("operator", verb, body)).status).toBe(403);
    }
  });

  test("created by a super admin who is not a member has only the given owners", async () => {
    await expectOk(post("root", "create", { name: "above", owners: ["u/ann"] }));
    expect((await get("ann", "get/above")).json()).toMatchObject({
      owners: ["u/ann"],
      created_by: "root@example.org",
    });
  });
});

describe("the folders of every workspace", () => {
  test("are readable for everybody and writable for admins", async () => {
    expect((await get("cid", "get/app_themes")).json()).toMatchObject({
      owners: [],
      extra_perms: { "g/all": false },
    });
    expect((await post("cid", "addowner/app_themes", { owner: "u/cid" })).status).toBe(403);
    await expectOk(post("admin", "addowner/app_themes", { owner: "u/cid" }));
    expect((await get("ann", "get/app_themes")).json()).toMatchObject({
      owners: ["u/cid"],
      extra_perms: { "g/all": false, "u/cid": true },
    });
  });

  test("stay deleted, and can be created again", async () => {
    await expectOk(as.admin!("DELETE", "/w/acme/folders/delete/app_groups"));
    expect((await get("admin", "listnames")).json()).not.toContain("app_groups");
    expect((await get("admin", "exists/app_groups")).json()).toBe(false);
    expect((await as.admin!("DELETE", "/w/acme/folders/delete/app_groups")).status).toBe(404);
    await expectOk(post("ann", "create", { name: "app_groups" }));
    expect((await get("ann", "get/app_groups")).json().owners).toEqual(["u/ann"]);
  });
});

test("every change of a folder stores an audit row", async () => {
  const rows = await server.server.app.db.read.select().from(auditLog);
  const kinds = new Set(
    rows.filter(({ resource }) => resource === "hands").map(({ operation }) => operation),
  );
  expect([...kinds].sort()).toEqual(["folder.add_owner", "folder.create", "folder.remove_owner"]);
  expect(rows.find(({ operation }) => operation === "folder.add_owner")).toMatchObject({
    resource: "hands",
    username: "ann",
    parameters: { owner: "u/bob" },
  });
  expect(rows.some(({ operation, resource }) => operation === "folder.update" && resource === "parts")).toBe(
    true,
  );
  expect(rows.some(({ operation, resource }) => operation === "folder.delete" && resource === "left")).toBe(
    true,
  );
});

test("a token with folder scopes reaches only the folders it names", async () => {
  const scoped = async (scope: string) =>
    server.as(
      (await expectOk(as.ann!("POST", "/users/tokens/create", { scopes: [scope], workspace_id: "acme" })))
        .text,
    );
  const reader = await scoped("folders:read:plans");
  expect((await reader("GET", "/w/acme/folders/get/plans")).status).toBe(200);
  expect((await reader("GET", "/w/acme/folders/get/quiet")).status).toBe(403);
  expect((await reader("POST", "/w/acme/folders/update/plans", {})).status).toBe(403);
  const writer = await scoped("folders:write:plans");
  expect((await writer("POST", "/w/acme/folders/update/plans", {})).status).toBe(200);
  expect((await writer("POST", "/w/acme/folders/update/quiet", {})).status).toBe(403);
});
