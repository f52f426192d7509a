/** `svc config` and `svc license`, on a terminal and in scripts. */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { existsSync, statSync } from "node:fs";
import { join } from "node:path";
import { PROCESS_SETTINGS } from "../../../../src/platform/config/config.ts";
import { INSTANCE_SETTINGS } from "../../../../src/platform/config/instance-settings.ts";
import { type CliEnvironment, createCliEnvironment, formatError, start } from "../../program.ts";
import { startSession } from "../../session.ts";

let place: CliEnvironment;

beforeEach(() => {
  place = createCliEnvironment();
});
afterEach(() => place[Symbol.dispose]());

const said = async (args: string[], options: object = {}) => {
  const { code, out, err } = await place.svc(args, options);
  if (code !== 0) throw new Error(`svc ${args.join(" ")}: ${err}`);
  return out.trim();
};

describe("svc config", () => {
  test("lists every setting with its value and source; secrets are hidden", async () => {
    const env = { SVC_PORT: "9000", SVC_SECRET_KEY: "instance-secret", SVC_SCIM_TOKEN: "scim-secret" };
    await said(["config", "set", "timeout_wait_result", "33"], { env });
    const text = await said(["config", "--all"], { env });
    const rows = text.split("\n").map((line) => line.split("\t").slice(0, 4));
    expect(rows).toContainEqual(["port", "9000", "environment", "SVC_PORT"]);
    expect(rows).toContainEqual(["host", "127.0.0.1", "default", "SVC_HOST"]);
    expect(rows).toContainEqual(["data_dir", place.data_dir, "environment", "SVC_DATA_DIR"]);
    expect(rows).toContainEqual(["secret_key", "********", "environment", "SVC_SECRET_KEY"]);
    expect(rows).toContainEqual(["scim_token", "********", "environment", "SVC_SCIM_TOKEN"]);
    expect(rows).toContainEqual(["timeout_wait_result", "33", "stored", "SVC_TIMEOUT_WAIT_RESULT"]);
    expect(rows).toContainEqual(["disable_stats", "true", "default", "SVC_DISABLE_STATS"]);
    expect(rows.filter(([name]) => name === "wait_result_s")).toEqual([]);
    // Every setting of the process and of the instance has one line, also if it can be set in both.
    const shown = rows.map(([name]) => name!);
    const joined = Object.values(INSTANCE_SETTINGS).flatMap((key) =>
      "config" in key ? [key.config as string] : [],
    );
    const wanted = [
      ...Object.keys(PROCESS_SETTINGS).filter((name) => !joined.includes(name)),
      ...Object.keys(INSTANCE_SETTINGS),
    ];
    expect(new Set(shown).size).toBe(shown.length);
    expect(wanted.filter((name) => !shown.includes(name))).toEqual([]);
    // Without --all, only the changed ones are listed.
    const few = (await said(["config"], { env })).split("\n").map((line) => line.split("\t"));
    expect(few.map(([name]) => name)).toContain("port");
    expect(few.filter(([, , source]) => source === "default")).toEqual([]);
    expect(shown).toContain("uid");
    expect(few.map(([name]) => name)).not.toContain("uid");
    // The variable names of existing installations work too, with lower precedence than the current ones.
    const older = { ...env, TIMEOUT: "60", MAX_TIMEOUT: "90", SVC_MAX_TIMEOUT: "100" };
    const values = JSON.parse(await said(["config", "--json"], { env: older })) as {
      variable: string;
      value: unknown;
    }[];
    const read = (variable: string) => values.find((each) => each.variable === variable)?.value;
    expect([read("SVC_TIMEOUT"), read("SVC_MAX_TIMEOUT")]).toEqual([60, 100]);
    expect(text).not.toMatch(/instance-secret|scim-secret/);
    const json = JSON.parse(await said(["config", "list", "--json", "--all"], { env }));
    expect(json).toContainEqual(expect.objectContaining({ name: "port", of: "process", value: 9000 }));
    const folder = ["config", "--json", "--data-dir", place.data_dir];
    expect(JSON.parse(await said(folder))).toContainEqual(
      expect.objectContaining({ name: "data_dir", source: "flag" }),
    );
  });

  test("fits each setting's value and meaning in 80 columns; NO_COLOR is respected", async () => {
    for (const env of [{}, { NO_COLOR: "1" }] as Record<string, string>[]) {
      using session = startSession(
        { ...place, environment: { ...place.environment, ...env, SVC_PORT: "9000" } },
        ["config", "--all"],
      );
      const { code, shown, raw } = await session.ended();
      const lines = shown.split("\n").map((line) => line.trimEnd());
      expect(code).toBe(0);
      expect(lines.filter((line) => line.length > 80)).toEqual([]);
      expect(lines).toContain("port  9000 (environment)");
      expect(shown.replace(/\s+/g, " ")).toContain(PROCESS_SETTINGS.data_dir.meaning);
      for (const { meaning } of Object.values(INSTANCE_SETTINGS))
        expect(shown.replace(/\s+/g, " ")).toContain(meaning.replace(/\s+/g, " "));
      expect(raw.includes("\x1b[1m")).toBe(env.NO_COLOR === undefined);
    }
  });

  test("gets and sets instance settings, without and with a running server, where they apply at once", async () => {
    await said(["config", "set", "base_url", "https://svc.example.org"]);
    expect(await said(["config", "get", "base_url"])).toBe("https://svc.example.org");
    using server = start(place, ["serve", "--port", "0", "--no-console", "--json"]);
    const { url } = JSON.parse(await server.says("\n}\n"));
    const front = await fetch(`${url}/`, { headers: { accept: "text/html" }, redirect: "manual" });
    expect([front.status, await front.text()]).toEqual([200, expect.stringContaining("not set up yet")]);
    expect((await place.svc(["config", "set", "base_url", "https://other.example.org"])).err).toBe(
      "set base_url\n",
    );
    expect(await said(["config", "get", "base_url"])).toBe("https://other.example.org");
    expect(JSON.parse(await said(["config", "get", "base_url", "--json"]))).toMatchObject({
      value: "https://other.example.org",
      source: "stored",
    });
    expect((await place.svc(["config", "set", "base_url", "null"])).err).toBe("removed setting base_url\n");
    expect(await said(["config", "get", "base_url"])).toBe("");
    for (const command of [
      ["get", "base_ur"],
      ["set", "base_ur", "https://x.example.org"],
      ["unset", "base_ur"],
    ]) {
      const err = formatError("there is no setting base_ur", "did you mean base_url?");
      expect(await place.svc(["config", ...command])).toEqual({ code: 2, out: "", err });
    }
    expect((await place.svc(["config", "unset", "custom"])).err).toContain("which is not a known setting\n");
    expect(await said(["config", "get", "host"])).toBe("127.0.0.1");
  });

  test("reads JSON from stdin, prints a secret only on request, and shows overrides of the environment", async () => {
    const smtp = {
      smtp_host: "mail.example.org",
      smtp_port: 465,
      smtp_from: "a@b.c",
      smtp_password: "hidden",
    };
    await said(["config", "set", "smtp_settings", "-"], { stdin: JSON.stringify(smtp) });
    expect(await said(["config"])).not.toContain("hidden");
    expect(JSON.parse(await said(["config", "get", "smtp_settings"]))).toEqual(smtp);
    const env = { SVC_CUSTOM_TAGS: '["gpu"]' };
    const { err } = await place.svc(["config", "set", "custom_tags", '["cpu"]'], { env });
    expect(err).toBe("set custom_tags, which has no effect: SVC_CUSTOM_TAGS is set and wins\n");
  });

  test("reports errors", async () => {
    expect(await place.svc(["config", "set", "retention_period_secs", "soon"])).toMatchObject({
      code: 1,
      err: expect.stringContaining("setting retention_period_secs must be a whole number of seconds"),
    });
    expect(await place.svc(["config", "set", "workers", "2"])).toMatchObject({
      code: 1,
      err: expect.stringContaining("workers is a setting of the server's process: set SVC_WORKERS where"),
    });
    expect(await place.svc(["config", "set", "retention_s", "60"])).toMatchObject({
      code: 1,
      err: expect.stringContaining("retention_s is stored as retention_period_secs"),
    });
    expect(await place.svc(["config", "set", "retention_perod_secs", "60"])).toMatchObject({
      code: 2,
      err: formatError("there is no setting retention_perod_secs", "did you mean retention_period_secs?"),
    });
    expect(await place.svc(["config", "set", "setting_of_a_client", "60"])).toMatchObject({
      code: 0,
      err: "set setting_of_a_client, which is not a known setting: it is kept, and changes nothing\n",
    });
    expect(await place.svc(["config", "get", "colour"])).toEqual({
      code: 2,
      out: "",
      err: formatError("there is no setting colour", "svc config --all lists them"),
    });
  });
});

describe("svc license", () => {
  test("creates keys, signs, sets and shows a license", async () => {
    const public_key = await said(["license", "keygen"]);
    expect(public_key).toMatch(/^[\w-]{43}$/);
    const file = join(place.folder, "license-private.pem");
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await place.svc(["license", "keygen"])).toMatchObject({
      code: 1,
      err: formatError("license-private.pem is there already", "name another file with --out"),
    });
    const words = ["license", "issue", "--customer", "Acme", "--days", "30", "--id", "lic-7", "--seats", "5"];
    const key = await said(words);
    const env = { SVC_LICENSE_PUBLIC_KEY: public_key };
    expect(await said(["license", "show", key], { env })).toMatch(
      /^license lic-7 of Acme \(5 seats\) holds until/,
    );
    await said(["config", "set", "license_key", "-"], { env, stdin: `${key}\n` });
    expect(JSON.parse(await said(["license", "show", "--json"], { env }))).toMatchObject({
      id: "lic-7",
      customer: "Acme",
      seats: 5,
      state: "holds",
    });
    expect((await place.svc(["license", "show", key])).err).toContain("no public key is set");
    const other = await said(["license", "keygen", "--out", "other.pem"]);
    const foreign = await place.svc(["license", "show", key, "--public-key", other]);
    expect(foreign).toMatchObject({ code: 1, err: expect.stringContaining("was not signed with the key") });
  });

  test("reports errors", async () => {
    expect(await place.svc(["license", "show"])).toMatchObject({
      code: 1,
      err: formatError("the instance has no license", "svc config set license_key - < acme.license"),
    });
    expect((await place.svc(["license", "issue"])).err).toContain("--customer is missing");
    expect((await place.svc(["license", "issue", "--customer", "Acme"])).err).toContain(
      "license-private.pem cannot be read (ENOENT)",
    );
    await place.file("bad.pem", "no key");
    expect((await place.svc(["license", "issue", "--customer", "Acme", "--key", "bad.pem"])).err).toContain(
      "this is not a private key",
    );
    const badUrl = ["license", "issue", "--customer", "Acme", "--renewal-url", "ftp://x"];
    expect(await place.svc(badUrl)).toMatchObject({ code: 2, err: expect.stringContaining("--renewal-url") });
    expect((await place.svc(["license", "issue", "--customer", "Acme", "--days", "0"])).code).toBe(2);
    expect(existsSync(join(place.folder, "license-private.pem"))).toBe(false);
  });
});
