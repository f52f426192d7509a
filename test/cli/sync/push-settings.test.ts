/** `settings.yaml` in the format of newer clients: pushed, compared and pulled by meaning. */
import { expect, test } from "bun:test";
import { join } from "node:path";
import { createCliEnvironment } from "../program.ts";
import { get, setUpSync, svc } from "./sync-setup.ts";

setUpSync();

const NOTHING = { code: 0, out: "nothing to change\n", err: "" };

const SETTINGS = `name: Acme
# Written by another client.
auto_invite:
  enabled: false
  operator: false
  mode: invite
  instance_groups: [ops]
  instance_groups_roles: {ops: admin}
datatable:
  datatables: {main: {database: {resource_path: u/admin/db}}}
error_handler:
  path: script/hub/1/alert
  extra_args: {channel: ops}
  muted_on_user_path: true
large_file_storage: {type: S3Storage, s3_resource_path: '$res:u/admin/later'}
slack_command_script: script/f/data/later
slack_name: ours
`;

test("grouped settings are saved before the items they refer to, come back equal and keep their format", async () => {
  using place = createCliEnvironment();
  await place.file("settings.yaml", SETTINGS);
  const pushed = await svc(place, "push", "--yes", "--settings");
  expect(pushed.code).toBe(0);
  const notes = pushed.err.split("\n").filter((line) => line.startsWith("warning: "));
  expect([...new Set(notes)].sort()).toEqual([
    "warning: settings: data tables are not offered here",
    "warning: settings: members of instance groups do not join by this setting here",
    "warning: settings: scripts of the hub are not offered",
    "warning: settings: there is no resource u/admin/later yet",
    "warning: settings: there is no script f/data/later yet",
  ]);
  expect(await get("/workspaces/get_settings")).toMatchObject({
    error_handler: "script/hub/1/alert",
    error_handler_extra_args: { channel: "ops" },
    error_handler_muted_on_user_path: true,
    chat_command_script: "script/f/data/later",
    instance_groups: ["ops"],
    instance_groups_roles: { ops: "admin" },
    datatable: { datatables: { main: { database: { resource_path: "u/admin/db" } } } },
    large_file_storage: { s3_resource_path: "$res:u/admin/later" },
  });
  const again = await svc(place, "push", "--yes", "--settings");
  expect(again).toEqual(NOTHING);
  const pulled = await svc(place, "pull", "--yes", "--settings");
  expect(pulled).toEqual(NOTHING);
  expect(await Bun.file(join(place.folder, "settings.yaml")).text()).toBe(SETTINGS);
  await place.file("settings.yaml", SETTINGS.replace("channel: ops", "channel: dev"));
  await svc(place, "pull", "--yes", "--settings");
  const { error_handler, auto_invite, ...rest } = Bun.YAML.parse(
    await Bun.file(join(place.folder, "settings.yaml")).text(),
  ) as Record<string, unknown>;
  expect(error_handler).toMatchObject({ path: "script/hub/1/alert", extra_args: { channel: "ops" } });
  expect(auto_invite).toMatchObject({ enabled: false, mode: "invite", instance_groups: ["ops"] });
  expect(rest).not.toHaveProperty("auto_invite_enabled");
}, 60_000);
