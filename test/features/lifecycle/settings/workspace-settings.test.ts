/** Settings of a workspace: stored, validated, visible to those with rights. */
import { expect, test } from "bun:test";
import { STORED_KINDS } from "../../../../src/features/triggers/common/stored/kinds.ts";
import { expectOk } from "../../../support/harness.ts";
import { admin, BASE, dev, setUpWorkspaceSettings } from "./workspace-settings-setup.ts";

const STORED_USED = Object.fromEntries(STORED_KINDS.map(({ kind }) => [`${kind}_used`, false]));

setUpWorkspaceSettings();

const settings = async (ask = admin) => (await expectOk(ask("GET", `${BASE}/get_settings`))).json();

test("a new workspace has the contract's fields with their defaults", async () => {
  expect(await settings()).toEqual({
    workspace_id: "acme",
    chat_name: null,
    chat_team_id: null,
    chat_command_script: null,
    slack_name: null,
    slack_team_id: null,
    slack_command_script: null,
    auto_invite_domain: null,
    auto_invite_operator: null,
    auto_add: null,
    plan: null,
    automatic_billing: false,
    customer_id: null,
    webhook: null,
    deploy_to: null,
    ai_resource: null,

    openai_resource_path: null,
    code_completion_enabled: false,
    error_handler: null,
    error_handler_extra_args: null,
    error_handler_muted_on_cancel: false,
    large_file_storage: null,
    git_sync: null,
    deploy_ui: null,
    default_app: null,
    default_scripts: null,
  });
});

const repository = { script_path: "hub/1/sync", git_repo_resource_path: "$res:u/admin/thing" };
const git_sync = { include_path: ["f/**"], include_type: ["script"], repositories: [repository] };
const deploy_ui = { include_path: ["f/**"], include_type: ["flow", "secret"] };
const default_scripts = {
  order: ["bun", "python3"],
  hidden: ["go"],
  default_script_content: { bun: "export function main() {}" },
};
const handler = {
  error_handler: "script/u/admin/script",
  error_handler_extra_args: { channel: "ops" },
  error_handler_muted_on_cancel: true,
};
const ai_resource = { path: "u/admin/thing", provider: "openai" };

const ai_config = { providers: { openai: { resource_path: "u/admin/thing", models: [] } } };
const model = { model: "m", provider: "anthropic" };
const newer = {
  providers: { anthropic: { resource_path: "u/admin/thing", models: ["m"] } },
  default_model: model,
};

test.each([
  ["edit_deploy_to", { deploy_to: "other" }, { deploy_to: "other" }],
  ["edit_deploy_to", { deploy_to: null }, { deploy_to: null }],
  ["edit_webhook", { webhook: "https://example.org/x?k=1" }, { webhook: "https://example.org/x?k=1" }],
  ["edit_webhook", {}, { webhook: null }],
  ["edit_error_handler", handler, handler],
  [
    "edit_error_handler",
    { path: "script/u/admin/script", extra_args: { channel: "ops" }, muted_on_cancel: true },
    handler,
  ],
  [
    "edit_error_handler",
    { error_handler: "flow/u/admin/flow" },
    {
      error_handler: "flow/u/admin/flow",
      error_handler_extra_args: null,
      error_handler_muted_on_cancel: false,
    },
  ],
  ["edit_error_handler", { error_handler: "script/hub/13/x" }, { error_handler: "script/hub/13/x" }],
  [
    "edit_error_handler",
    {},
    { error_handler: null, error_handler_extra_args: null, error_handler_muted_on_cancel: false },
  ],
  [
    "edit_copilot_config",
    { ai_resource, code_completion_enabled: true },
    { ai_resource, ai_config, openai_resource_path: "u/admin/thing", code_completion_enabled: true },
  ],
  [
    "edit_copilot_config",
    { ...newer, code_completion_model: model },
    {
      ai_resource: { path: "u/admin/thing", provider: "anthropic" },
      ai_config: { ...newer, code_completion_model: model },
      openai_resource_path: null,
      code_completion_enabled: true,
    },
  ],
  [
    "edit_copilot_config",
    { openai_resource_path: "u/admin/thing", code_completion_enabled: false },
    { ai_resource, ai_config, openai_resource_path: "u/admin/thing", code_completion_enabled: false },
  ],
  [
    "edit_copilot_config",
    { code_completion_enabled: false },
    { ai_resource: null, ai_config: undefined, openai_resource_path: null, code_completion_enabled: false },
  ],
  ["edit_git_sync_config", { git_sync_settings: git_sync }, { git_sync }],
  ["edit_git_sync_config", {}, { git_sync: null }],
  ["edit_deploy_ui_config", { deploy_ui_settings: deploy_ui }, { deploy_ui }],
  ["edit_default_app", { default_app_path: "f/apps/first" }, { default_app: "f/apps/first" }],
  ["edit_default_app", { default_app_path: "" }, { default_app: null }],
  ["default_scripts", default_scripts, { default_scripts }],
  [
    "edit_chat_command",
    { chat_command_script: "u/admin/script" },
    { chat_command_script: "u/admin/script", slack_command_script: "u/admin/script" },
  ],
  [
    "edit_slack_command",
    { slack_command_script: "script/u/admin/script" },
    { chat_command_script: "script/u/admin/script", slack_command_script: "script/u/admin/script" },
  ],
  [
    "edit_chat_command",
    { chat_command_script: "flow/u/admin/flow" },
    { chat_command_script: "flow/u/admin/flow", slack_command_script: "flow/u/admin/flow" },
  ],
  ["set_automatic_billing", { automatic_billing: true, seats: 3 }, { automatic_billing: true }],
  [
    "edit_large_file_storage_config",
    { large_file_storage: { type: "S3Storage", s3_resource_path: "u/admin/thing" } },
    { large_file_storage: { type: "S3Storage", s3_resource_path: "u/admin/thing" } },
  ],
] as const)(
  "%s %j is stored, leaves an audit row, and can be changed by admins only",
  async (name, body, expected) => {
    expect((await dev("POST", `${BASE}/${name}`, body)).status).toBe(403);
    const before = await settings();
    await expectOk(admin("POST", `${BASE}/${name}`, body));
    expect(await settings()).toEqual({ ...before, ...(expected as object) });
    const [row] = (await admin("GET", "/w/acme/audit/list?per_page=1")).json();
    expect(row).toMatchObject({ action_kind: "Update", resource: "acme", username: "admin" });
    const edits = /^edit_(chat|slack)_command$/.test(name) ? "edit_command_script" : name;
    expect(row.operation).toBe(`workspaces.${edits === "default_scripts" ? "edit_default_scripts" : edits}`);
    expect(JSON.stringify(row)).not.toContain("example.org/x");
  },
);

test("members read all settings except the targets of events and errors", async () => {
  await expectOk(admin("POST", `${BASE}/edit_webhook`, { webhook: "https://example.org/secret" }));
  await expectOk(admin("POST", `${BASE}/edit_error_handler`, handler));
  const all = await settings();
  expect(await settings(dev)).toEqual({ ...all, webhook: null, error_handler_extra_args: null });
  await expectOk(admin("POST", `${BASE}/edit_deploy_to`, { deploy_to: "other" }));
  await expectOk(
    admin("POST", `${BASE}/edit_copilot_config`, { ai_resource, code_completion_enabled: true }),
  );
  for (const [path, expected] of [
    ["get_deploy_to", { deploy_to: "other" }],
    ["default_app", { default_app_path: null }],
    ["default_scripts", default_scripts],
    [
      "get_copilot_info",
      {
        ai_provider: "openai",
        exists_ai_resource: true,
        exists_openai_resource_path: true,
        code_completion_enabled: true,
        ...ai_config,
      },
    ],
    ["used_triggers", { ...STORED_USED, http_routes_used: false, websocket_used: false }],
    ["is_premium", false],
  ] as const) {
    expect([path, (await expectOk(dev("GET", `${BASE}/${path}`))).json()]).toEqual([path, expected]);
  }
  expect((await expectOk(dev("GET", `${BASE}/get_workspace_name`))).text).toBe("acme");
});

test("settings of a workspace from another instance are kept, also for resources that are created later", async () => {
  const ai_config = { providers: { openai: { resource_path: "u/kim/later", models: ["one"] } } };
  const git_sync = { repositories: [{ git_repo_resource_path: "$res:u/kim/later" }] };
  const kept = {
    color: "#83a3fa",
    operator_settings: { audit_logs: true, newest: false },
    success_handler: { path: "script/u/kim/later", extra_args: { channel: "ops" } },
  };
  await expectOk(admin("POST", `${BASE}/edit_copilot_config`, ai_config));
  await expectOk(admin("POST", `${BASE}/edit_git_sync_config`, { git_sync_settings: git_sync }));
  await expectOk(admin("POST", `${BASE}/change_workspace_color`, { color: kept.color }));
  await expectOk(admin("POST", `${BASE}/operator_settings`, kept.operator_settings));
  await expectOk(admin("POST", `${BASE}/edit_success_handler`, kept.success_handler));
  await expectOk(admin("POST", `${BASE}/default_scripts`));
  expect(await settings()).toMatchObject({ ai_config, git_sync, ...kept, default_scripts: null });

  await expectOk(admin("POST", `${BASE}/edit_copilot_config`, { code_completion_enabled: false }));
  await expectOk(admin("POST", `${BASE}/edit_git_sync_config`, {}));
  await expectOk(admin("POST", `${BASE}/change_workspace_color`, {}));
  await expectOk(admin("POST", `${BASE}/operator_settings`));
  const { path: success_handler, extra_args: success_handler_extra_args } = kept.success_handler;
  await expectOk(admin("POST", `${BASE}/edit_success_handler`, {}));
  expect((await settings()).success_handler).toBeUndefined();
  await expectOk(
    admin("POST", `${BASE}/edit_success_handler`, { success_handler, success_handler_extra_args }),
  );
  expect((await settings()).success_handler).toEqual(kept.success_handler);
  await expectOk(admin("POST", `${BASE}/edit_success_handler`, {}));
  const after = await settings();
  expect(after.success_handler).toBeUndefined();
  expect([after.color, after.operator_settings, after.ai_config, after.git_sync]).toEqual([
    undefined,
    undefined,
    undefined,
    null,
  ]);
});

test.each([
  ["change_workspace_color", { color: "x".repeat(101) }, "`color`: must have at most 100 characters"],
  ["operator_settings", { odd: "x".repeat(32_768) }, "must have at most 32768 characters as JSON"],
])("%s has a limit of length", async (name, body, says) => {
  const answer = await admin("POST", `${BASE}/${name}`, body);
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(says)]);
});

test("fields of newer clients are accepted and returned", async () => {
  const include = { include_path: ["f/**"], exclude_path: ["f/private/**"] };
  await expectOk(admin("POST", `${BASE}/edit_git_sync_config`, { git_sync_settings: include, version: 2 }));
  expect((await settings()).git_sync).toEqual(include);
  await expectOk(admin("POST", `${BASE}/edit_git_sync_config`, {}));
});

test.each([
  ["edit_deploy_to", { deploy_to: "acme" }, "`deploy_to`: must be another workspace"],
  ["edit_webhook", { webhook: "ftp://example.org" }, "`webhook`: must be an address such as https://"],
  ["edit_webhook", { webhook: "example.org" }, "`webhook`"],
  ["edit_webhook", { webhook: 7 }, "`webhook`"],
  ["edit_error_handler", { error_handler: "u/admin/script" }, "`error_handler`: must be script/<path>"],
  ["edit_error_handler", { error_handler: "flow/nopath" }, '`error_handler`: "nopath" is not a path'],
  ["edit_error_handler", { muted_on_user_path: "yes" }, "`muted_on_user_path`"],
  ["edit_instance_groups", { groups: "all" }, "`groups`"],
  ["edit_instance_groups", { roles: { a: 1 } }, "`roles.a`"],
  ["edit_datatable_config", { settings: [] }, "`settings`"],
  ["edit_error_handler", { error_handler_extra_args: [] }, "`error_handler_extra_args`"],
  ["edit_copilot_config", {}, "`code_completion_enabled`"],
  [
    "edit_copilot_config",
    { code_completion_enabled: true, ai_resource: { path: "x" } },
    "`ai_resource.provider`",
  ],
  [
    "edit_copilot_config",
    { code_completion_enabled: true, ai_resource: { path: "u/a/none", provider: "openai" } },
    "`ai_resource.path`: there is no resource u/a/none",
  ],
  [
    "edit_git_sync_config",
    { git_sync_settings: { include_type: ["scripts"] } },
    "`git_sync_settings.include_type.0`",
  ],
  [
    "edit_git_sync_config",
    { git_sync_settings: { repositories: [{ ...repository, git_repo_resource_path: "none" }] } },
    '"none" is not a path',
  ],
  ["edit_default_app", { default_app_path: "nopath" }, '`default_app_path`: "nopath" is not a path'],
  ["default_scripts", { order: ["Type Script"] }, "`order.0`: must be the name of a language"],
  ["edit_chat_command", { chat_command_script: "nopath" }, '"nopath" is not a path'],
  ["set_automatic_billing", { seats: 1 }, "`automatic_billing`"],
  ["set_automatic_billing", { automatic_billing: true, seats: 0 }, "`seats`: must be 1 or more"],
  [
    "edit_large_file_storage_config",
    { large_file_storage: { type: "S3Storage", s3_resource_path: "u/admin/off" } },
    "storage _default_: bucket files at http://127.0.0.1:1 cannot be used now",
  ],
  ["edit_auto_invite", { operator: "no" }, "`operator`"],
  ["set_environment_variable", { value: "x" }, "`name`"],
  ["set_environment_variable", { name: "A B", value: "x" }, '`name`: "A B" cannot be the name of a variable'],
  ["set_environment_variable", { name: "WM_TOKEN", value: "x" }, "WM_TOKEN is set by the server"],
  ["set_environment_variable", { name: "PATH", value: "x" }, "PATH is set by the server"],
] as const)("%s %j is rejected, and nothing is changed", async (name, body, says) => {
  const before = await settings();
  const answer = await admin("POST", `${BASE}/${name}`, body);
  expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(says)]);
  expect(await settings()).toEqual(before);
});
