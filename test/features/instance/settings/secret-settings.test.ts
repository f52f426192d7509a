/** Secrets among the instance's settings are stored encrypted, and shown to nobody. */
import { describe, expect, test } from "bun:test";
import { expectOk } from "../../../support/harness.ts";
import { readStored } from "../../../support/stored.ts";
import { ask, get, listSettings, SMTP, server, set, setUpSettings } from "./settings-setup.ts";

setUpSettings();

describe("secrets", () => {
  const SECRETS = {
    smtp_settings: SMTP,
    scim_token: "a-token-nobody-may-see",
    oauths: { github: { id: "shown-id", secret: "github-client-secret" } },
    critical_error_channels: [
      { chat_channel: "ops" },
      { chat_channel: "https://hooks.chat.example/T00/hook-secret-1" },
      { webhook_url: "https://alerts.example.org/hook-secret-2" },
    ],
    pip_find_links: "https://ann:links-password-of-ann@wheels.example.org/all/",
    newest_version_url: "https://hook-token-of-versions@versions.example.org/newest",
    of_a_client_token: "client-token-of-nobody-here",
    of_a_client: { api_key: "inner-key-of-nobody-here" },
  };
  const TEXTS = [
    "hunter2-of-the-mail",
    "a-token-nobody-may-see",
    "github-client-secret",
    "hook-secret-1",
    "hook-secret-2",
    "links-password-of-ann",
    "hook-token-of-versions",
    "client-token-of-nobody-here",
    "inner-key-of-nobody-here",
  ];

  test("are masked in the list, in audit rows and in errors, and stored encrypted", async () => {
    for (const [key, value] of Object.entries(SECRETS)) await expectOk(set(key, value));
    const list = (await expectOk(ask("GET", "/settings/list_global"))).text;
    const local = (await expectOk(ask("GET", "/settings/local"))).text;
    const { auditLog } = await import("../../../../src/features/signals/audit/tables.ts");
    const audit = JSON.stringify(await server.server.app.db.read.select().from(auditLog));
    const error = (await set("smtp_settings", { ...SMTP, smtp_port: "hunter2-of-the-mail" })).text;
    const stored = await readStored(server);
    for (const secret of TEXTS) {
      for (const text of [list, local, audit, error, stored]) expect(text).not.toContain(secret);
    }
    expect(audit).toContain("settings.update");
    expect(list).toContain("shown-id");
    expect(await listSettings("pip_find_links")).toMatchObject({
      value: "https://********@wheels.example.org/all/",
    });
    expect(await listSettings("critical_error_channels")).toMatchObject({
      value: [
        { chat_channel: "ops" },
        { chat_channel: "https://hooks.chat.example/********" },
        { webhook_url: "https://alerts.example.org/********" },
      ],
    });
  });

  test("are returned completely by their key, which leaves an audit row", async () => {
    expect(await get("smtp_settings")).toEqual(SMTP);
    const { auditLog } = await import("../../../../src/features/signals/audit/tables.ts");
    const rows = await server.server.app.db.read.select().from(auditLog);
    expect(rows).toContainEqual(
      expect.objectContaining({ operation: "settings.read_secret", resource: "smtp_settings" }),
    );
  });

  test("stay unchanged if the masked value is written back", async () => {
    for (const key of Object.keys(SECRETS)) {
      const shown = (await listSettings(key))?.value;
      await expectOk(set(key, shown));
      expect(await get(key)).toEqual(SECRETS[key as keyof typeof SECRETS]);
    }
    const shown = await listSettings("critical_error_channels");
    const [, hook, webhook] = shown!.value as object[];
    await expectOk(set("critical_error_channels", [webhook, hook]));
    const [, first, second] = SECRETS.critical_error_channels;
    expect(await get("critical_error_channels")).toEqual([second, first]);
    expect((await set("newest_version_url", "https://********@elsewhere.example.org/newest")).text).toContain(
      "send the secret itself",
    );
    expect((await set("jwt_secret", "********")).text).toContain("send the secret itself");
  });
});
