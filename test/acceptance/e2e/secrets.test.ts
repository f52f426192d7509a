/**
 * Every secret, used everywhere it can be, on a server that logs as much as possible: afterwards it is in no
 * file, log line, list or backup.
 */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { createCliEnvironment, start } from "../../cli/program.ts";
import { until } from "../../support/harness.ts";
import { Browser, startIdentityProvider } from "../../support/peers/identity-provider.ts";
import { readFiles } from "../../support/stored.ts";

const secretOf = (what: string) => `zq7-${what}-${Bun.randomUUIDv7()}`;

test("no secret of the server is in its files, log, lists or backups", async () => {
  using place = createCliEnvironment();
  const going = start(place, ["serve", "--port", "0", "--json"], {
    SVC_LOG_LEVEL: "trace",
    SVC_ALLOWED_TARGETS: "127.0.0.1",
  });
  const { url } = JSON.parse(await going.says("\n}\n")) as { url: string };
  const unix = join(place.data_dir, "svc.sock");
  const shown: string[] = [];
  const call = async (
    to: string,
    token: string | undefined,
    method: string,
    path: string,
    body?: unknown,
  ) => {
    const response = await fetch(`${to}/api${path}`, {
      method,
      ...(token === undefined ? { unix } : {}),
      headers: token === undefined ? {} : { authorization: `Bearer ${token}` },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${path}: ${response.status} ${text}`);
    return text;
  };
  const operator = (method: string, path: string, body?: unknown) =>
    call("http://localhost", undefined, method, path, body);
  const set = (key: string, value: unknown) => operator("POST", `/settings/global/${key}`, { value });
  const password = secretOf("password");
  await operator("POST", "/users/create", { email: "ann@example.org", password, super_admin: true });
  const workspace = { id: "acme", name: "Acme", owner: "ann@example.org", username: "ann" };
  await operator("POST", "/workspaces/create", workspace);
  const session = await call(url, "", "POST", "/auth/login", { email: "ann@example.org", password });
  const ask = (method: string, path: string, body?: unknown) => call(url, session, method, path, body);
  const w = (method: string, path: string, body?: unknown) => ask(method, `/w/acme${path}`, body);

  // Secrets of the instance.
  const client = secretOf("client");
  const back = ["user/login_callback/house", "oauth/callback/house"].map((path) => `${url}/${path}`);
  await using idp = await startIdentityProvider(back, client);
  const smtp_password = secretOf("smtp");
  const hook = secretOf("hook");
  const chat = secretOf("chat");
  const directory = secretOf("scim");
  await set("oauths", { house: { ...idp.client, issuer: idp.issuer } });
  const smtp = { smtp_host: "127.0.0.1", smtp_port: 1, smtp_from: "svc@example.org", smtp_username: "svc" };
  await set("smtp_settings", { ...smtp, smtp_password });
  await set("chat", { access_token: chat, api_url: "http://127.0.0.1:1" });
  await set("scim_token", directory);
  await set("critical_error_channels", [
    { email: "ops@example.org" },
    { chat_channel: "ops" },
    { webhook_url: `http://127.0.0.1:1/${hook}` },
  ]);
  await operator("POST", "/settings/test_critical_channels", [
    { email: "ops@example.org" },
    { chat_channel: "ops" },
    { webhook_url: `http://127.0.0.1:1/${hook}` },
  ]).catch((error) => shown.push(String(error)));

  // Secrets of the workspace.
  const variable = secretOf("variable");
  const sealed = secretOf("sealed");
  const secret = (path: string, value: string, more: object = {}) =>
    w("POST", "/variables/create", { path, value, is_secret: true, description: "", ...more });
  await secret("u/ann/secret", variable);
  await w("POST", "/resources/create", {
    path: "u/ann/holds",
    value: { deep: ["$var:u/ann/secret"] },
    resource_type: "any",
  });
  const endpoint = JSON.parse(
    await w("POST", "/webhooks/create", { url: "http://127.0.0.1:1/receiver", description: "", types: null }),
  ) as { secret: string };

  // An account at a provider, whose token is refreshed.
  idp.lifetime_s = 1;
  const browser = new Browser();
  browser.cookies.set(new URL(url).host, new Map([["token", session]]));
  const end = await browser.walk(`${url}/api/oauth/connect/house`, `${url}/oauth/`, "ann");
  const [code, state] = ["code", "state"].map((name) => end.searchParams.get(name));
  const answer = await browser.fetch(`${url}/api/oauth/connect_callback/house`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ code, state }),
  });
  const { access_token, refresh_token } = (await answer.json()) as Record<string, string>;
  const account = Number(
    await w("POST", "/oauth/create_account", { refresh_token, expires_in: 1, client: "house" }),
  );
  await secret("u/ann/token", access_token!, { account, is_oauth: true });
  const refreshed = await until(async () => {
    const value = JSON.parse(await w("GET", "/variables/get_value/u/ann/token"));
    return value === access_token ? undefined : (value as string);
  }, "another token");

  // All of them in jobs that print them and fail with them: by a run, a schedule's arguments, a flow and an
  // app.
  const schema = { properties: { typed: { type: "string", format: "password" } } };
  const content = `export const main = (x: any, y: any, z: any, typed: any, token: any) => {
    console.log(x, y, z, typed, token);
    throw Object.assign(new Error("cannot use " + y), { used: [x, typed, token] });
  }`;
  await w("POST", "/scripts/create", { path: "u/ann/fails", content, language: "bun", schema });
  const typed = secretOf("typed");
  const z = `$encrypted:${await w("POST", "/variables/encrypt", sealed)}`;
  const args = { x: "$res:u/ann/holds", y: "$var:u/ann/secret", z, token: "$var:u/ann/token" };
  const jobs = [await w("POST", "/jobs/run/p/u/ann/fails", { ...args, typed })];
  await w("POST", "/schedules/create", {
    path: "u/ann/yearly",
    schedule: "0 0 0 1 1 *",
    timezone: "UTC",
    script_path: "u/ann/fails",
    is_flow: false,
    args,
  });
  const input_transforms = { x: { type: "javascript", expr: "'Bearer ' + variable('u/ann/secret')" } };
  const step = {
    type: "rawscript",
    language: "bun",
    content: "export const main = (x: string) => (console.log(x), x.length)",
    input_transforms,
  };
  jobs.push(
    await w("POST", "/jobs/run/preview_flow", { value: { modules: [{ id: "a", value: step }] }, args: {} }),
  );
  const triggerables_v2 = { "button:script/u/ann/fails": { static_inputs: { y: "$var:u/ann/secret" } } };
  const policy = { execution_mode: "publisher", triggerables_v2 };
  await w("POST", "/apps/create", { path: "u/ann/app", value: {}, summary: "", policy });
  const pressed = { component: "button", path: "script/u/ann/fails", args: { typed } };
  jobs.push(await w("POST", "/apps_u/execute_component/u/ann/app", pressed));
  for (const id of jobs) {
    const job = await until(async () => {
      const text = await w("GET", `/jobs_u/get/${id}`);
      return JSON.parse(text).type === "CompletedJob" ? text : undefined;
    }, "the job's end");
    shown.push(job, await w("GET", `/jobs_u/get_logs/${id}`));
  }
  const key = JSON.parse(await w("GET", "/workspaces/encryption_key")).key as string;
  await w("POST", "/workspaces/encryption_key", {
    new_key: secretOf("key").replaceAll("-", "").padEnd(64, "0").slice(0, 64),
  });
  for (const path of ["variables", "resources", "audit", "jobs", "schedules", "webhooks", "apps"]) {
    shown.push(await w("GET", `/${path}/list`));
  }
  for (const path of [
    "/settings/list_global",
    "/settings/local",
    "/settings/critical_alerts",
    "/users/tokens/list",
  ]) {
    shown.push(await ask("GET", path));
  }
  const backup = join(place.folder, "all.backup");
  expect((await place.svc(["backup", backup])).code).toBe(0);
  const bytes = readFileSync(backup);
  shown.push(gunzipSync(bytes.subarray(bytes.indexOf(10) + 1)).toString());
  const stored = readFiles(place.data_dir);
  going.child.kill("SIGTERM");
  const { out, err } = await going.ended();

  const everything = [...shown, ...stored, ...readFiles(place.data_dir), out, err].join("\n");
  // The searched files contain what they should.
  for (const there of ["u/ann/secret", "variables.decrypt_secret", '"msg":"request"', "*****"]) {
    expect(everything.includes(there)).toBe(true);
  }
  const secrets = {
    password,
    session,
    client,
    smtp_password,
    hook,
    chat,
    directory,
    variable,
    sealed,
    typed,
    key,
  };
  const tokens = { access_token: access_token!, refresh_token: refresh_token!, refreshed };
  for (const [name, text] of Object.entries({ ...secrets, ...tokens, endpoint: endpoint.secret })) {
    const encoded = Buffer.from(text).toString("base64").slice(0, -4);
    expect([name, everything.includes(text), everything.includes(encoded)]).toEqual([name, false, false]);
  }
}, 60_000);
