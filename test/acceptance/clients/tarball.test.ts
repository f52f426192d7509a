/** The archive of a workspace: its files, what can be left out or added, and who gets which items. */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { expectOk } from "../../support/harness.ts";
import { ACME, ask, files, folder, ITEMS, server, setUpTarballs, token, token_of } from "./tarball-setup.ts";

setUpTarballs();

describe("the archive", () => {
  test("contains the newest version of everything, in the form of its kind", async () => {
    const { names, read, headers } = await files();
    expect(headers.get("content-type")).toBe("application/x-tar");
    expect(headers.get("content-disposition")).toBe('attachment; filename="acme.tar"');
    expect(names).toEqual(ITEMS);
    expect(read("f/data/one.ts")).toBe("export const main = () => 'zwölf'");
    expect(read("f/data/one.script.json")).toEqual({
      summary: "One",
      description: "of them",
      schema: expect.objectContaining({ type: "object" }),
      lock: "",
      kind: "script",
      tag: "deno",
      timeout: 7,
      envs: ["A=b"],
    });
    expect(read("f/data/flow.flow.json")).toEqual({
      summary: "Flow",
      description: "",
      value: { modules: [{ id: "a", value: { type: "identity" } }] },
      priority: 3,
    });
    expect(read("f/data/folder.meta.json")).toEqual({
      summary: "Things",
      display_name: "data",
      owners: ["u/admin"],
      extra_perms: { "g/all": false, "u/admin": true },
    });
    expect(read("f/data/app.app.json")).toEqual({
      summary: "App",
      value: { grid: [] },
      policy: { execution_mode: "viewer" },
    });
    expect(read("f/data/nothing.resource.json")).toEqual({
      value: null,
      description: "",
      resource_type: "object",
    });
    expect(read("ours.resource-type.json")).toEqual({ description: "of ours", schema: { type: "object" } });
    expect(read("f/data/plain.variable.json")).toEqual({ value: "moon", is_secret: false, description: "" });
  });

  test("is a ZIP archive on request, which other programs can read", async () => {
    const answer = await fetch(`${server.url}/api${ACME}/workspaces/tarball?archive_type=zip`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect(answer.headers.get("content-type")).toBe("application/x-tar");
    await Bun.write(join(folder, "acme.zip"), await answer.bytes());
    const script =
      "import json, sys, zipfile; z = zipfile.ZipFile(sys.argv[1]); assert z.testzip() is None; print(json.dumps({n: z.read(n).decode() for n in z.namelist()}))";
    const { stdout, stderr } = Bun.spawnSync(["python3", "-c", script, join(folder, "acme.zip")]);
    expect(stderr.toString()).toBe("");
    const read = JSON.parse(stdout.toString());
    expect(Object.keys(read).sort()).toEqual(ITEMS);
    expect(read["f/data/one.ts"]).toBe("export const main = () => 'zwölf'");
  });

  test("rejects other kinds", async () => {
    const { status, text } = await files({ archive_type: "rar" });
    expect([status, text]).toEqual([400, expect.stringContaining("Invalid Archive Type")]);
  });

  const without = (pattern: RegExp) => ITEMS.filter((name) => !pattern.test(name));
  const options: [query: Record<string, string>, names: string[]][] = [
    [{ skip_variables: "true" }, without(/\.variable\.json$/)],
    [{ skip_secrets: "true" }, without(/secret\.variable\.json$/)],
    [{ skip_resources: "true" }, without(/\.resource\.json$/)],
    [{ skip_resource_types: "true" }, without(/\.resource-type\.json$/)],
    [{ include_schedules: "true" }, [...ITEMS, "f/data/nightly.schedule.json"]],
    [{ include_groups: "true" }, [...ITEMS, "groups/ops.group.json"]],
    [
      { include_triggers: "true" },
      [...ITEMS, "f/data/feed.websocket_trigger.json", "f/data/orders.http_trigger.json"],
    ],
    [
      { include_users: "true" },
      [
        ...ITEMS,
        "users/admin_acme@example.org.user.json",
        "users/ann@example.org.user.json",
        "users/op@example.org.user.json",
      ],
    ],
    [{ include_settings: "true" }, [...ITEMS, "settings.json"]],
    [{ include_key: "true" }, [...ITEMS, "encryption_key.json"]],
    [{ default_ts: "deno" }, [...without(/one\.ts$/), "f/data/one.bun.ts"]],
    [{ settings_version: "v2", include_triggers: "false", anything: "else" }, ITEMS],
  ];
  test.each(options)("%j", async (query, names) => {
    expect((await files(query)).names).toEqual([...names].sort());
  });

  test("leaves out fields of schedules, groups, people and settings that differ by instance", async () => {
    const { read } = await files({
      include_schedules: "true",
      include_groups: "true",
      include_users: "true",
      include_settings: "true",
      include_key: "true",
    });
    expect(read("f/data/nightly.schedule.json")).toEqual({
      schedule: "0 0 3 * * *",
      timezone: "UTC",
      script_path: "f/data/one",
      is_flow: false,
      args: { a: 1 },
      enabled: false,
      no_flow_overlap: false,
      ws_error_handler_muted: false,
    });
    expect(read("groups/ops.group.json")).toEqual({
      summary: "Ops",
      members: ["u/ann"],
      admins: ["u/admin"],
    });
    expect(read("users/op@example.org.user.json")).toEqual({
      username: "op",
      role: "operator",
      disabled: false,
    });
    expect(read("settings.json")).toMatchObject({ name: "acme", webhook: null, auto_invite_enabled: false });
    expect(read("encryption_key.json")).toBe(
      (await ask("GET", `${ACME}/workspaces/encryption_key`)).json().key,
    );
  });
});

describe("secrets", () => {
  const rows = async (operation: string) =>
    (await expectOk(ask("GET", `${ACME}/audit/list?operation=${operation}&per_page=100`))).json();

  test("are encrypted so that the workspace can import them again", async () => {
    const { read, text } = await files();
    const { value, is_secret } = read("f/data/secret.variable.json");
    expect([is_secret, text.includes("hunter2")]).toEqual([true, false]);
    const copy = { path: "f/data/copy", value, is_secret: true, description: "" };
    await expectOk(ask("POST", `${ACME}/variables/create?already_encrypted=true`, copy));
    expect((await ask("GET", `${ACME}/variables/get_value/f/data/copy`)).json()).toBe("hunter2-moon");
    await expectOk(ask("DELETE", `${ACME}/variables/delete/f/data/copy`));
  });

  test.each(["plain_secret", "plain_secrets"])(
    "are plain with %s, which leaves a row for each",
    async (name) => {
      const before = (await rows("variables.decrypt_secret")).length;
      const { read } = await files({ [name]: "true" });
      expect(read("f/data/secret.variable.json").value).toBe("hunter2-moon");
      expect((await rows("variables.decrypt_secret")).length).toBe(before + 1);
    },
  );

  test("reading the key leaves an audit row", async () => {
    const before = (await rows("workspaces.get_encryption_key")).length;
    await files({ include_key: "true" });
    expect((await rows("workspaces.get_encryption_key")).length).toBe(before + 1);
  });
});

describe("the caller", () => {
  test("gets the items that they may read", async () => {
    const { names } = await files({}, await token_of("ann"));
    expect(names).toEqual(ITEMS.filter((name) => !name.startsWith("u/admin/")));
  });

  test.each([
    ["ann", { include_settings: "true" }],
    ["ann", { include_key: "true" }],
    ["op", { plain_secrets: "true" }],
  ])("%s is rejected for %j", async (name, query) => {
    expect((await files(query as Record<string, string>, await token_of(name))).status).toBe(403);
  });

  test("needs a token whose scopes cover all contents", async () => {
    const made = async (scopes: string[]) =>
      (await expectOk(ask("POST", "/users/tokens/create", { scopes }))).text;
    const items = ["folders", "scripts", "flows", "apps", "resources"].map((domain) => `${domain}:read`);
    const some = await made(["workspaces:read", ...items]);
    expect((await files({ skip_variables: "true" }, some)).status).toBe(200);
    expect(await files({}, some)).toMatchObject({
      status: 403,
      text: expect.stringContaining("variables:read"),
    });
    expect((await files({}, await made(["workspaces:read"]))).status).toBe(403);
    const key = { skip_variables: "true", include_key: "true" };
    expect(await files(key, some)).toMatchObject({
      status: 403,
      text: expect.stringContaining("workspaces:write"),
    });
    expect((await files(key, await made(["workspaces:write", ...items]))).status).toBe(200);
  });
});
