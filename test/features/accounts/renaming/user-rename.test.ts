/** A user is renamed, and what belongs to them follows. */
import { expect, test } from "bun:test";
import { eq } from "drizzle-orm";
import { variables } from "../../../../src/features/assets/variable-tables.ts";
import { drafts } from "../../../../src/features/code/drafts/tables.ts";
import { favorites } from "../../../../src/features/code/favorites/tables.ts";
import { jobs } from "../../../../src/platform/queue/tables.ts";
import { type Ask, deploy, expectOk, until } from "../../../support/harness.ts";
import { renameUser, root, server, setUpRenaming } from "./renaming-setup.ts";

setUpRenaming();

async function deployFlow(ask: Ask, path: string, value: object): Promise<void> {
  await expectOk(ask("POST", "/w/acme/flows/create", { path, summary: "", value, schema: {} }));
  await until(async () => {
    const flow = (await ask("GET", `/w/acme/flows/get/${path}`)).json();
    return flow.lock_error_logs === undefined || flow.lock_error_logs === null ? true : undefined;
  });
}

test("paths, references to them, grants, tokens and runs follow", async () => {
  const { ask, token } = await server.member("acme", "ann");
  const bob = await server.member("acme", "bob");
  const put = (of: Ask, kind: string, body: object) => expectOk(of("POST", `/w/acme/${kind}/create`, body));
  const plain = { is_secret: false, description: "" };
  await put(ask, "variables", { path: "u/ann/key", value: "sesame", is_secret: true, description: "" });
  await put(ask, "variables", { path: "u/ann/plain", value: "1", ...plain });
  await put(bob.ask, "variables", { path: "u/bob/shared", value: "2", ...plain });
  const { db } = server.server.app;
  await db.write(async (tx) => {
    const extra_perms = { "u/ann": true, "u/anna": true };
    await tx.update(variables).set({ extra_perms }).where(eq(variables.path, "u/bob/shared"));
  });
  const resource = { resource_type: "any", description: "" };
  await put(ask, "resources", { path: "u/ann/db", value: { password: "$var:u/ann/key" }, ...resource });
  await put(bob.ask, "resources", { path: "u/bob/db", value: ["$var:u/ann/key", "u/ann/text"], ...resource });
  const code = "export function main(x: string) { return [x, process.env.WM_USERNAME]; }";
  const hash = await deploy(ask, "acme", "u/ann/hello", code);
  await deploy(ask, "acme", "u/ann/signed", code, { signature: { scheme: "github", secret: "u/ann/key" } });
  const step = (path: string, x: object) => ({ type: "script", path, input_transforms: { x } });
  await deployFlow(ask, "u/ann/flow", {
    modules: [
      { id: "a", value: step("u/ann/hello", { type: "static", value: "$var:u/ann/plain" }) },
      {
        id: "b",
        suspend: { required_events: 1, timeout: 600 },
        value: step("u/ann/hello", { type: "javascript", expr: "variable('u/ann/plain')" }),
      },
      { id: "c", value: step("u/ann/hello", { type: "javascript", expr: "results.b[0]" }) },
    ],
  });
  await expectOk(
    ask("POST", "/w/acme/drafts/create", {
      path: "u/ann/idea",
      typ: "script",
      value: { path: "u/ann/idea" },
    }),
  );
  const scoped = { workspace_id: "acme", scopes: ["jobs:run:scripts:u/ann/hello", "run:script/u/ann/hello"] };
  const narrow = (await expectOk(ask("POST", "/users/tokens/create", scoped))).text;
  const due = new Date(Date.now() + 3_600_000).toISOString();
  const later = (
    await expectOk(
      ask("POST", `/w/acme/jobs/run/p/u/ann/hello?scheduled_for=${due}`, { x: "$var:u/ann/plain" }),
    )
  ).text;
  const flow = (await expectOk(ask("POST", "/w/acme/jobs/run/f/u/ann/flow", {}))).text;
  const waiting = await until(async () => {
    const status = (await ask("GET", `/w/acme/jobs_u/get/${flow}`)).json().flow_status;
    return status?.modules[2]?.type === "WaitingForEvents" ? status : undefined;
  }, "the flow to wait");
  // Cached before, so that the caches must be invalidated.
  const before = await expectOk(ask("POST", "/w/acme/jobs/run_wait_result/p/u/ann/hello", { x: "y" }));
  expect(before.json()).toEqual(["y", "ann"]);

  await deploy(bob.ask, "acme", "u/bob/tool", code);
  const acl = { owner: "u/ann", write: true };
  await expectOk(bob.ask("POST", "/w/acme/acls/add/script/u/bob/tool", acl));
  const tool = () => ask("POST", "/w/acme/jobs/run_wait_result/p/u/bob/tool", { x: "t" });
  expect((await expectOk(tool())).json()).toEqual(["t", "ann"]);

  await expectOk(root("POST", "/users/rename/Ann@Example.org", { new_username: "ann_lee" }));

  expect((await expectOk(tool())).json()).toEqual(["t", "ann_lee"]);

  expect((await ask("GET", "/w/acme/users/whoami")).json().username).toBe("ann_lee");
  const info = (await root("GET", "/users/username_info/ann@example.org")).json();
  expect(info).toEqual({
    username: "ann_lee",
    workspace_usernames: [{ workspace_id: "acme", username: "ann_lee" }],
  });
  expect((await ask("GET", "/w/acme/variables/get_value/u/ann_lee/key")).json()).toBe("sesame");
  expect((await ask("GET", "/w/acme/variables/get_value/u/ann/key")).status).toBe(404);
  expect((await bob.ask("GET", "/w/acme/variables/get/u/bob/shared")).json().extra_perms).toEqual({
    "u/anna": true,
    "u/ann_lee": true,
  });
  const interpolated = await ask("GET", "/w/acme/resources/get_value_interpolated/u/ann_lee/db");
  expect(interpolated.json()).toEqual({ password: "sesame" });
  const others = (await bob.ask("GET", "/w/acme/resources/get_value/u/bob/db")).json();
  expect(others).toEqual(["$var:u/ann_lee/key", "u/ann/text"]);
  const [draft] = await db.read.select().from(drafts);
  expect(draft).toMatchObject({ path: "u/ann_lee/idea", value: { path: "u/ann_lee/idea" } });
  expect(draft?.created_by).toBe("ann_lee");
  const signed = (await ask("GET", "/w/acme/scripts/get/p/u/ann_lee/signed")).json();
  expect(signed.signature.secret).toBe("u/ann_lee/key");

  for (const target of ["p/u/ann_lee/hello", `h/${hash}`]) {
    const answer = await expectOk(ask("POST", `/w/acme/jobs/run_wait_result/${target}`, { x: "z" }));
    expect(answer.json()).toEqual(["z", "ann_lee"]);
  }
  expect((await ask("POST", "/w/acme/jobs/run/p/u/ann/hello", {})).status).toBe(404);
  for (const [path, status] of [
    ["u/ann_lee/hello", 200],
    ["u/ann_lee/signed", 403],
  ]) {
    const asked = server.as(narrow)("POST", `/w/acme/jobs/run_wait_result/p/${path}`, { x: "" });
    expect([path, (await asked).status]).toEqual([path, status]);
  }
  expect((await server.as(token)("GET", "/users/whoami")).json().username).toBe("ann_lee");

  const [queued] = await db.read.select().from(jobs).where(eq(jobs.id, later));
  expect(queued).toMatchObject({
    permissioned_as: "u/ann_lee",
    created_by: "ann_lee",
    script_path: "u/ann_lee/hello",
    args: '{"x":"$var:u/ann_lee/plain"}',
  });

  // The waiting flow continues, under the new name and at the new paths.
  expect(waiting).toBeDefined();
  const urls = await ask("GET", `/w/acme/jobs/resume_urls/${waiting.modules[1].job}/1`);
  const resume = new URL(urls.json().resume).pathname.replace(/^\/api/, "");
  await expectOk(server.as(undefined)("POST", resume, {}));
  const result = await until(async () => {
    const answer = await ask("GET", `/w/acme/jobs_u/completed/get_result_maybe/${flow}`);
    return answer.json().completed ? answer.json().result : undefined;
  }, "the flow's end");
  expect(result).toEqual(["1", "ann_lee"]);

  const row = (await server.operator("GET", "/w/acme/jobs/list?script_path_exact=u/ann_lee/hello")).json();
  expect(row.length).toBeGreaterThan(0);
}, 60_000);

test("apps, schedules, favorites, saved inputs, folders, groups and settings follow", async () => {
  const { ask } = await server.member("acme", "zoe", "admin");
  const bob = (await server.member("acme", "bo")).ask;
  await deploy(ask, "acme", "u/zoe/hello", "export const main = () => 1");
  const runs = { type: "runnableByPath", path: "u/zoe/hello", runType: "script" };
  const static_inputs = { key: "$var:u/zoe/key" };
  const policy = {
    execution_mode: "publisher",
    triggerables_v2: { "a:script/u/zoe/hello": { static_inputs }, "b:rawscript/abc": {} },
  };
  const app = { path: "u/zoe/app", summary: "", value: { grid: [{ id: "a", runs }] }, policy };
  await expectOk(ask("POST", "/w/acme/apps/create", app));
  await expectOk(ask("POST", "/w/acme/raw_apps/create", { path: "u/zoe/raw", summary: "", value: "1" }));
  await expectOk(ask("POST", "/w/acme/acls/add/app/u/zoe/app", { owner: "u/bo" }));
  const schedule = {
    path: "u/zoe/daily",
    schedule: "0 0 0 * * *",
    timezone: "Etc/UTC",
    script_path: "u/zoe/hello",
    is_flow: false,
    enabled: true,
    args: { key: "$var:u/zoe/key" },
    on_failure: "script/u/zoe/hello",
  };
  await expectOk(ask("POST", "/w/acme/schedules/create", schedule));
  for (const who of [ask, bob]) {
    const body = { path: "u/zoe/app", favorite_kind: "app" };
    await expectOk(who("POST", "/w/acme/favorites/star", body));
  }
  const query = (name: string) => `runnable_id=u/${name}/hello&runnable_type=ScriptPath`;
  const kept = { name: "kept", args: { key: "$var:u/zoe/key" } };
  await expectOk(ask("POST", `/w/acme/inputs/create?${query("zoe")}`, kept));
  await expectOk(ask("POST", "/w/acme/folders/create", { name: "hers" }));
  await expectOk(ask("POST", "/w/acme/groups/create", { name: "hers" }));
  const set = (name: string, body: object) => expectOk(ask("POST", `/w/acme/workspaces/${name}`, body));
  await set("edit_error_handler", { error_handler: "script/u/zoe/hello" });
  await set("edit_default_app", { default_app_path: "u/zoe/app" });
  await set("edit_deploy_ui_config", { deploy_ui_settings: { include_path: ["u/zoe/**", "f/**"] } });
  await set("edit_chat_command", { chat_command_script: "u/zoe/hello" });

  // Left over from an earlier item at the new path, and in conflict with what follows.
  await server.server.app.db.write(async (tx) => {
    const star = {
      workspace_id: "acme",
      email: "bo@example.org",
      kind: "app",
      path: "u/zoe_lee/app",
    } as const;
    await tx.insert(favorites).values(star);
  });

  await expectOk(renameUser("zoe", "zoe_lee"));

  const moved = (await bob("GET", "/w/acme/apps/get/p/u/zoe_lee/app")).json();
  expect(moved.value.grid[0].runs.path).toBe("u/zoe_lee/hello");
  expect(moved.policy).toMatchObject({
    on_behalf_of: "u/zoe_lee",
    triggerables_v2: {
      "a:script/u/zoe_lee/hello": { static_inputs: { key: "$var:u/zoe_lee/key" } },
      "b:rawscript/abc": {},
    },
  });
  expect([moved.created_by, moved.extra_perms]).toEqual(["zoe_lee", { "u/bo": false }]);
  for (const who of [ask, bob]) {
    const starred = (await who("GET", "/w/acme/apps/list?starred_only=true")).json();
    expect(starred.map((row: any) => [row.path, row.starred])).toEqual([["u/zoe_lee/app", true]]);
  }
  expect((await ask("GET", "/w/acme/raw_apps/exists/u/zoe_lee/raw")).json()).toBe(true);
  expect((await ask("GET", "/w/acme/schedules/get/u/zoe_lee/daily")).json()).toMatchObject({
    script_path: "u/zoe_lee/hello",
    edited_by: "zoe_lee",
    args: { key: "$var:u/zoe_lee/key" },
    on_failure: "script/u/zoe_lee/hello",
  });
  const [input] = (await ask("GET", `/w/acme/inputs/list?${query("zoe_lee")}`)).json();
  expect([input.name, input.created_by]).toEqual(["kept", "zoe_lee"]);
  expect((await ask("GET", `/w/acme/inputs/${input.id}/args?input=true`)).json()).toEqual({
    key: "$var:u/zoe_lee/key",
  });
  const folder = (await ask("GET", "/w/acme/folders/get/hers")).json();
  expect([folder.owners, folder.extra_perms]).toEqual([["u/zoe_lee"], { "u/zoe_lee": true }]);
  const group = (await ask("GET", "/w/acme/groups/get/hers")).json();
  expect([group.members, group.extra_perms]).toEqual([["zoe_lee"], { "u/zoe_lee": true }]);
  expect((await ask("GET", "/w/acme/workspaces/get_settings")).json()).toMatchObject({
    error_handler: "script/u/zoe_lee/hello",
    default_app: "u/zoe_lee/app",
    deploy_ui: { include_path: ["u/zoe_lee/**", "f/**"] },
    chat_command_script: "u/zoe_lee/hello",
  });
}, 60_000);

test("a job that runs during the renaming continues under the new name, also after a requeue", async () => {
  const { ask } = await server.member("acme", "pia");
  await deploy(ask, "acme", "u/pia/child", "export function main() {}");
  const waits = `export async function main(gate: string) {
    const { existsSync } = await import("node:fs");
    while (!existsSync(gate)) await Bun.sleep(5);
    const url = process.env.BASE_INTERNAL_URL + "/api/w/acme/jobs/run/p/u/pia_lee/child";
    const headers = { authorization: "Bearer " + process.env.WM_TOKEN, "content-type": "application/json" };
    return (await fetch(url, { method: "POST", headers, body: "{}" })).text();
  }`;
  await deploy(ask, "acme", "u/pia/waits", waits, { restart_unless_cancelled: true });
  const gate = `${server.data_dir}/pia`;
  const first = (await expectOk(ask("POST", "/w/acme/jobs/run/p/u/pia/waits", { gate }))).text;
  const { read } = server.server.app.db;
  const row = async (id: string) => (await read.select().from(jobs).where(eq(jobs.id, id)))[0]!;
  await until(async () => ((await row(first)).state === "running" ? true : undefined));
  await expectOk(renameUser("pia", "pia_lee"));
  await Bun.write(gate, "");
  await until(async () => ((await row(first)).state === "completed" ? true : undefined));
  const child = JSON.parse((await row(first)).result!);
  expect(await row(child)).toMatchObject({ permissioned_as: "u/pia_lee", created_by: "pia_lee" });
  const next = await until(async () => {
    const rows = await read.select().from(jobs).where(eq(jobs.script_path, "u/pia_lee/waits"));
    return rows.find(({ id }) => id !== first);
  }, "the next run");
  expect(next).toMatchObject({
    permissioned_as: "u/pia_lee",
    created_by: "pia_lee",
    email: "pia@example.org",
  });
  await expectOk(ask("POST", "/w/acme/jobs_u/queue/cancel_persistent/u/pia_lee/waits", { reason: "enough" }));
}, 60_000);
