/**
 * The instance's settings: validated, effective at once, overridden by the environment, secrets never shown.
 */
import { describe, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "../../../../src/platform/config/config.ts";
import { INSTANCE_SETTINGS, type SettingKey } from "../../../../src/platform/config/instance-settings.ts";
import { startServer } from "../../../../src/server/server.ts";
import { createDatabase, expectOk, startTestServer, until } from "../../../support/harness.ts";
import {
  ask,
  EXAMPLES,
  get,
  listSettings,
  public_key,
  SMTP,
  server,
  set,
  setUpSettings,
  userAsk,
} from "./settings-setup.ts";

setUpSettings();

describe("known keys", () => {
  test.each([
    ["base_url", "https://svc.example.org"],
    ["retention_period_secs", 86_400],
    ["job_default_timeout", 30],
    ["timeout_wait_result", 20],
    ["request_size_limit_mb", 50],
    ["critical_alert_mute_ui", true],
    ["custom_tags", ["gpu"]],
    ["automate_username_creation", true],
    ["oauths", { github: { id: "abc", secret: "xyz", allowed_domains: ["example.org"] } }],
  ])("%s is stored unchanged, and null removes it", async (key, value) => {
    expect(await get(key)).toBeNull();
    expect(await set(key, value)).toMatchObject({ status: 200, text: `set ${key}` });
    expect(await get(key)).toEqual(value);
    expect(await listSettings(key)).toMatchObject({ source: "stored" });
    expect(await set(key, null)).toMatchObject({ status: 200, text: `removed setting ${key}` });
    expect(await get(key)).toBeNull();
    expect(await listSettings(key)).toBeUndefined();
  });

  test.each([
    ["base_url", "svc.example.org", "a URL that begins with http:// or https://"],
    ["base_url", 7, "a URL"],
    ["base_url", "javascript:alert(1)", "a URL"],
    ["retention_period_secs", "30 days", "a whole number of seconds, 0 (forever) to 3155760000"],
    ["retention_period_secs", -1, "a whole number"],
    ["retention_period_secs", 1.5, "a whole number"],
    ["job_default_timeout", 0, "1 to 3155760000"],
    ["timeout_wait_result", 86_401, "0 to 86400"],
    ["request_size_limit_mb", true, "a whole number of MB"],
    ["critical_alert_mute_ui", "yes", "true or false"],
    ["custom_tags", "gpu", "an array of texts"],
    ["custom_tags", ["gpu", 7], "value field `1`"],
    ["smtp_settings", { ...SMTP, smtp_port: 99_999 }, "value field `smtp_port`"],
    ["smtp_settings", { smtp_port: 25 }, "value field `smtp_host`"],
    ["smtp_settings", [], "an object with smtp_host"],
    ["critical_error_channels", [{}], "one of email, chat_channel and webhook_url"],
    ["critical_error_channels", [{ email: "ann" }], "must be an e-mail address"],
    ["critical_error_channels", [{ webhook_url: "ftp://x.org" }], "must be a URL"],
    ["oauths", { github: { secret: "abc" } }, "value field `github.id`"],
    ["chat", {}, "access_token or bot.bot_access_token"],
    ["license_key", "", "the text of a license"],
  ])("%s rejects %j, says what is allowed, and keeps its value", async (key, value, allowed) => {
    const before = await get(key);
    const answer = await set(key, value);
    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining(`setting ${key} must be `)]);
    expect(answer.text).toContain(allowed);
    expect(await get(key)).toEqual(before);
  });

  test.each(Object.keys(INSTANCE_SETTINGS) as SettingKey[])(
    "%s rejects each other type and each invalid value with the reason, and keeps its value",
    async (key) => {
      const { good, bad } = EXAMPLES[key];
      if (key === "license_key") await expectOk(set("license_public_key", public_key));
      await expectOk(set(key, good));
      const before = await get(key);
      expect(before).not.toBeNull();
      const kindOf = (value: unknown) => (Array.isArray(value) ? "array" : typeof value);
      const others = ["", "\u0001 ", 7.5, -1, true, {}, { a: 1 }, [7], [[]], [null]].filter(
        (value) => value === "" || kindOf(value) !== kindOf(good),
      );
      for (const value of [...others, ...bad]) {
        const { status, text } = await set(key, value);
        expect([value, status, text]).toEqual([
          value,
          400,
          expect.stringContaining(`setting ${key} must be `),
        ]);
        expect(text).toContain(INSTANCE_SETTINGS[key].allowed);
      }
      expect(await get(key)).toEqual(before);
      await expectOk(set(key, null));
    },
  );

  test("a rejected value leaves the previous one", async () => {
    await expectOk(set("timeout_wait_result", 33));
    expect((await set("timeout_wait_result", "soon")).status).toBe(400);
    expect(await get("timeout_wait_result")).toBe(33);
    await expectOk(set("timeout_wait_result", null));
  });

  test("a body without a value, and an invalid key, are rejected", async () => {
    expect((await ask("POST", "/settings/global/base_url", {})).text).toContain("body field `value`");
    expect((await ask("POST", "/settings/global/a%20b", { value: 1 })).text).toContain("cannot be the key");
    expect((await ask("GET", "/settings/global/a%20b")).status).toBe(400);
  });

  test("the list of all contains each known key with its meaning and variable", async () => {
    const all = (await expectOk(ask("GET", "/settings/list_global?all=true"))).json();
    for (const key of Object.keys(INSTANCE_SETTINGS)) {
      expect(all.find((setting: { name: string }) => setting.name === key)).toMatchObject({
        meaning: expect.stringMatching(/\w/),
        variable: expect.stringMatching(/^[A-Z0-9_]+$/),
      });
    }
    expect(await listSettings("disable_stats", "?all=true")).toMatchObject({
      value: true,
      source: "default",
    });
  });
});

test("an unknown key is stored as given", async () => {
  const value = { colour: "green", deep: [1, { two: null }] };
  await expectOk(set("of_some_client", value));
  expect(await get("of_some_client")).toEqual(value);
  expect(await listSettings("of_some_client")).toMatchObject({ value, source: "stored" });
});

test("only super admins set and list; others read what clients need", async () => {
  expect((await userAsk("POST", "/settings/global/base_url", { value: "https://evil.org" })).status).toBe(
    403,
  );
  expect((await userAsk("GET", "/settings/global/jwt_secret")).status).toBe(403);
  expect((await userAsk("GET", "/settings/list_global")).status).toBe(403);
  expect((await userAsk("GET", "/settings/local")).status).toBe(403);
  expect((await userAsk("GET", "/settings/global/automate_username_creation")).text).toBe("null");
  expect((await server.as(undefined)("GET", "/settings/global/base_url")).status).toBe(401);
});

describe("a setting takes effect at once", () => {
  test("request_size_limit_mb", async () => {
    const body = "x".repeat(1_500_000);
    expect((await ask("POST", "/workspaces/exists", { id: body })).status).not.toBe(413);
    await expectOk(set("request_size_limit_mb", 1));
    expect((await ask("POST", "/workspaces/exists", { id: body })).status).toBe(413);
    await expectOk(set("request_size_limit_mb", null));
    expect((await ask("POST", "/workspaces/exists", { id: body })).status).not.toBe(413);
  });

  test("base_url, without its last slash", async () => {
    await expectOk(set("base_url", "https://svc.example.org/"));
    expect(server.server.app.urls.base).toBe("https://svc.example.org");
    const login = await server.as(undefined)("POST", "/auth/login", {
      email: "ann@example.org",
      password: "ann-password",
    });
    expect(login.headers.get("set-cookie")).toContain("Secure");
    await expectOk(set("base_url", null));
    expect(server.server.app.urls.base).toBe(server.url);
  });

  test("timeout_wait_result and job_default_timeout", async () => {
    const acme = await server.workspace();
    const run = () =>
      acme.ask("POST", `/w/${acme.id}/jobs/run_wait_result/preview`, {
        content: "export async function main() { await new Promise((r) => setTimeout(r, 60_000)); }",
        language: "bun",
        args: {},
      });
    await expectOk(set("timeout_wait_result", 1));
    expect((await run()).text).toContain("timeout after 1s");
    await expectOk(set("timeout_wait_result", null));
    await expectOk(set("job_default_timeout", 1));
    expect((await run()).text).toMatch(/timeout|timed out/i);
    await expectOk(set("job_default_timeout", null));
  });
});

describe("the environment", () => {
  test("takes precedence over stored values, and is shown as the source", async () => {
    process.env.SVC_BASE_URL = "https://env.example.org";
    process.env.SVC_SMTP_SETTINGS = JSON.stringify(SMTP);
    process.env.SVC_DISABLE_STATS = "false";
    try {
      await using other = await startTestServer({ max_body_mb: 3 });
      const root = (await other.user("root", { super_admin: true })).ask;
      const answer = await root("POST", "/settings/global/base_url", { value: "https://stored.example.org" });
      expect(answer.text).toBe("set base_url, which has no effect: SVC_BASE_URL is set and wins");
      const limit = await root("POST", "/settings/global/request_size_limit_mb", { value: 9 });
      expect(limit.text).toContain("a flag of the server is set and wins");
      expect((await root("GET", "/settings/global/base_url")).json()).toBe("https://env.example.org");
      expect(other.server.app.settings.get("request_size_limit_mb")).toBe(3);
      expect(other.server.app.urls.base).toBe("https://env.example.org");
      const list = (await root("GET", "/settings/list_global")).json();
      expect(list).toContainEqual(expect.objectContaining({ name: "base_url", source: "environment" }));
      expect(list).toContainEqual(
        expect.objectContaining({
          name: "smtp_settings",
          source: "environment",
          variable: "SVC_SMTP_SETTINGS",
          value: { ...SMTP, smtp_password: "********" },
        }),
      );
      expect(list).toContainEqual(expect.objectContaining({ name: "disable_stats", value: false }));
      const local = (await root("GET", "/settings/local")).json();
      expect(local.base_url).toMatchObject({ source: "environment", setting: "base_url" });
      expect(local.max_body_mb).toMatchObject({
        source: "flag",
        value: 3,
        variable: "SVC_REQUEST_SIZE_LIMIT",
      });
      expect(local.host).toMatchObject({ source: "default", value: "127.0.0.1" });
    } finally {
      for (const name of ["SVC_BASE_URL", "SVC_SMTP_SETTINGS", "SVC_DISABLE_STATS"]) delete process.env[name];
    }
  });

  test("with an invalid value prevents the start, without quoting secrets", async () => {
    process.env.SVC_SMTP_SETTINGS = '{"smtp_password":"hunter2"}';
    process.env.SVC_CUSTOM_TAGS = "gpu";
    try {
      const failed = await startTestServer().then(
        () => undefined,
        (cause: Error) => cause.message,
      );
      expect(failed).toContain("SVC_SMTP_SETTINGS: setting smtp_settings must be an object with smtp_host");
      expect(failed).toContain("SVC_CUSTOM_TAGS: setting custom_tags must be an array of texts");
      expect(failed).not.toContain("hunter2");
    } finally {
      for (const name of ["SVC_SMTP_SETTINGS", "SVC_CUSTOM_TAGS"]) delete process.env[name];
    }
  });
});

test("settings persist over a restart, and the instance keeps its uid", async () => {
  const data_dir = mkdtempSync(join(tmpdir(), "svc-settings-"));
  const database = process.env.DATABASE_URL
    ? await createDatabase(process.env.DATABASE_URL, "migrated")
    : undefined;
  const begin = () =>
    startServer(
      loadConfig({ port: 0, log_level: "fatal", blank_children: 0, data_dir, database_url: database?.url }),
    );
  let running = await begin();
  const uid = running.app.settings.get("uid");
  await running.app.db.write((tx) => running.app.settings.put(tx, "smtp_settings", SMTP, "root@example.org"));
  await running.stop();
  running = await begin();
  expect(running.app.settings.find("smtp_settings").value).toEqual(SMTP);
  expect(running.app.settings.get("uid")).toBe(uid!);
  await running.stop();
  rmSync(join(data_dir, "instance.key"));
  running = await begin();
  // Encrypted with another key: treated as not set, and the server starts.
  expect(running.app.settings.get("smtp_settings")).toBeUndefined();
  await running.stop();
  rmSync(data_dir, { recursive: true });
  await database?.drop();
});

test.if(process.env.DATABASE_URL !== undefined)(
  "another server of the same database applies a change within the documented time",
  async () => {
    const data_dir = mkdtempSync(join(tmpdir(), "svc-settings-"));
    const { database_url } = server.server.app.config;
    copyFileSync(join(server.data_dir, "instance.key"), join(data_dir, "instance.key"));
    const other = await startServer(
      loadConfig({ port: 0, log_level: "fatal", blank_children: 0, data_dir, database_url }),
    );
    await expectOk(set("custom_tags", ["from-here"]));
    await until(() => other.app.settings.get("custom_tags").includes("from-here") || undefined);
    await expectOk(set("custom_tags", null));
    await until(() => other.app.settings.get("custom_tags").length === 0 || undefined);
    await other.stop();
    rmSync(data_dir, { recursive: true });
  },
  60_000,
);
