/**
 * Settings saved by clients that move a workspace: before its items, and with fields that this server ignores.
 */
import { expect, test } from "bun:test";
import { expectOk } from "../../../support/harness.ts";
import { admin, BASE, dev, server, setUpWorkspaceSettings } from "./workspace-settings-setup.ts";

setUpWorkspaceSettings();

const settings = async (ask = admin) => (await expectOk(ask("GET", `${BASE}/get_settings`))).json();
const post = (name: string, body: object) => expectOk(admin("POST", `${BASE}/${name}`, body));

async function archived(version = ""): Promise<Record<string, unknown>> {
  const query = `archive_type=tar&include_settings=true&settings_version=${version}`;
  const token = (await expectOk(admin("POST", "/users/tokens/create", { label: "pull" }))).text;
  const answer = await fetch(`${server.url}/api${BASE}/tarball?${query}`, {
    headers: { authorization: `Bearer ${token}` },
  });
  const files = await new Bun.Archive(await answer.bytes()).files();
  return JSON.parse(await files.get("settings.json")!.text());
}

const storage = { type: "S3Storage", s3_resource_path: "$res:u/admin/later" };

test.each([
  ["edit_deploy_to", { deploy_to: "later" }, "deploy_to", "later", "there is no workspace later yet"],
  [
    "edit_error_handler",
    { error_handler: "script/u/admin/later" },
    "error_handler",
    "script/u/admin/later",
    "there is no script u/admin/later yet",
  ],
  [
    "edit_error_handler",
    { path: "flow/u/admin/later" },
    "error_handler",
    "flow/u/admin/later",
    "there is no flow u/admin/later yet",
  ],
  [
    "edit_error_handler",
    { path: "script/hub/1/alert" },
    "error_handler",
    "script/hub/1/alert",
    "scripts of the hub are not offered",
  ],
  [
    "edit_default_app",
    { default_app_path: "f/apps/later" },
    "default_app",
    "f/apps/later",
    "there is no app f/apps/later yet",
  ],
  [
    "edit_chat_command",
    { chat_command_script: "u/admin/later" },
    "chat_command_script",
    "u/admin/later",
    "there is no script u/admin/later yet",
  ],
  [
    "edit_slack_command",
    { slack_command_script: "script/u/admin/later" },
    "slack_command_script",
    "script/u/admin/later",
    "there is no script u/admin/later yet",
  ],
  [
    "edit_large_file_storage_config",
    { large_file_storage: storage },
    "large_file_storage",
    storage,
    "there is no resource u/admin/later yet",
  ],
] as const)(
  "%s %j is stored, and the answer says what is missing",
  async (name, body, field, value, note) => {
    expect((await post(name, body)).text).toContain(`; ${note}`);
    expect((await settings())[field]).toEqual(value);
  },
);

test("files of a storage whose resource does not exist fail by its name", async () => {
  await post("edit_large_file_storage_config", { large_file_storage: storage });
  const answer = await dev("POST", "/w/acme/job_helpers/upload_s3_file", "x");
  expect([answer.status, answer.text]).toEqual([404, expect.stringContaining("resource u/admin/later")]);
  await post("edit_large_file_storage_config", {});
});

test("settings without effect are kept, returned and archived until they are removed", async () => {
  const instance_groups = ["ops", "all of us"];
  const instance_groups_roles = { ops: "admin" };
  const datatable = { datatables: { main: { database: { resource_path: "u/admin/db" } } } };
  const answer = await post("edit_instance_groups", {
    groups: instance_groups,
    roles: instance_groups_roles,
  });
  expect(answer.text).toBe(
    "instance groups of workspace acme stored; members of instance groups do not join by this setting here",
  );
  expect((await post("edit_datatable_config", { settings: datatable })).json()).toEqual({
    stranded_references: [],
  });
  const stored = { instance_groups, instance_groups_roles, datatable };
  expect(await settings()).toMatchObject(stored);
  expect(await archived()).toMatchObject(stored);
  await post("edit_instance_groups", { groups: [], roles: instance_groups_roles });
  await post("edit_datatable_config", { settings: { datatables: {} } });
  for (const left of [await settings(), await archived()])
    for (const name of Object.keys(stored)) expect(left).not.toHaveProperty(name);
});

test("the archive groups settings for clients that ask for it", async () => {
  await post("edit_error_handler", {});
  const unset = await archived("v2");
  expect(unset).not.toHaveProperty("auto_invite");
  expect(unset.error_handler).toBeNull();
  await post("edit_auto_invite", {});
  await post("edit_error_handler", {
    path: "script/u/admin/script",
    extra_args: { a: 1 },
    muted_on_user_path: true,
  });
  expect(await archived("v2")).toMatchObject({
    auto_invite: { enabled: false, operator: false, mode: "invite" },
    error_handler: { path: "script/u/admin/script", extra_args: { a: 1 }, muted_on_user_path: true },
  });
  await post("edit_auto_invite", { operator: true, auto_add: true });
  await post("edit_instance_groups", { groups: ["ops"] });
  expect((await archived("v2")).auto_invite).toEqual({
    enabled: true,
    operator: true,
    mode: "add",
    instance_groups: ["ops"],
  });
  const flat = { auto_invite_enabled: true, auto_invite_as: "operator", auto_invite_mode: "add" };
  for (const version of ["", "v1", "v9"])
    expect(await archived(version)).toMatchObject({ ...flat, error_handler: "script/u/admin/script" });
});
