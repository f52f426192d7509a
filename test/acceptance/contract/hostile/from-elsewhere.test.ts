/** Items from other repositories are stored and returned unchanged, and grant nobody additional rights. */
import { describe, expect, test } from "bun:test";
import { createCipheriv, createHash, createHmac } from "node:crypto";
import { deploy, expectOk } from "../../../support/harness.ts";
import { ACME, ann, ask, file, formOf, get, post, server, setUpElsewhere, token } from "./elsewhere-setup.ts";

setUpElsewhere();

describe("a folder", () => {
  const body = {
    summary: null,
    display_name: "Data of ours",
    owners: ["u/admin", "somebody-else", "u/gone"],
    extra_perms: { "a team": true, "u/gone": true, "u/admin": true, "somebody-else": true },
    default_permissioned_as: [{ path_glob: "f/ours/**", permissioned_as: "u/admin" }],
  };

  test("keeps owners that do not exist here, and unknown fields", async () => {
    await post("/folders/create", { name: "ours", ...body });
    expect(await file("f/ours/folder.meta.json")).toEqual(body);
    expect(await get("/folders/get/ours")).toMatchObject({ display_name: "Data of ours", summary: "" });
    await post("/folders/update/ours", { summary: "Said", display_name: "Other" });
    const later = { ...body, summary: "Said", display_name: "Other" };
    expect(await file("f/ours/folder.meta.json")).toEqual(later);
  });

  test("an invalid owner grants nobody rights", async () => {
    await post("/folders/create", {
      name: "shut",
      owners: ["ann", "f/x", "all"],
      extra_perms: { ann: true },
    });
    expect((await ann("GET", `${ACME}/folders/get/shut`)).status).toBe(404);
    expect((await ann("POST", `${ACME}/variables/create`, variable("f/shut/mine", "x"))).status).toBe(403);
  });

  test("pushed by an admin without owners, it is returned without any", async () => {
    await post("/folders/create", { name: "unsaid", display_name: "unsaid", summary: "" });
    expect(await file("f/unsaid/folder.meta.json")).toEqual({ display_name: "unsaid", summary: "" });
    expect((await get("/folders/get/unsaid")).owners).toEqual(["u/admin"]);
    await post("/folders/addowner/unsaid", { owner: "u/ann" });
    expect(await file("f/unsaid/folder.meta.json")).toMatchObject({ owners: ["u/admin", "u/ann"] });
  });
});

const variable = (path: string, value: string) => ({ path, value, is_secret: true, description: "" });

describe("a secret that was encrypted on another server", () => {
  const key = "k".repeat(64);
  const sealed = (plain: string) => {
    const cipher = createCipheriv("aes-256-cbc", createHash("sha256").update(key).digest(), Buffer.alloc(16));
    return Buffer.concat([cipher.update(plain), cipher.final()]).toString("base64");
  };

  test("is stored unreadable, returned unchanged, and readable once its key is imported", async () => {
    const { ask: there } = await server.workspace("moved");
    const value = sealed("hunter2 ü");
    const at = "/w/moved/variables";
    const made = variable("u/admin/moved", value);
    await expectOk(there("POST", `${at}/create?already_encrypted=true`, made));
    const unread = await there("GET", `${at}/get_value/u/admin/moved`);
    expect([unread.status, unread.text]).toEqual([
      400,
      expect.stringContaining("secret u/admin/moved cannot be read: it was encrypted elsewhere"),
    ]);
    expect(unread.text).not.toContain(value);
    const shown = await there("GET", `${at}/get/u/admin/moved?decrypt_secret=false&include_encrypted=true`);
    expect(shown.json().value).toBe(value);
    const rotated = { new_key: key, skip_reencrypt: true };
    await expectOk(there("POST", "/w/moved/workspaces/encryption_key", rotated));
    expect((await there("GET", `${at}/get_value/u/admin/moved`)).json()).toBe("hunter2 ü");
    await expectOk(there("POST", "/w/moved/workspaces/encryption_key", { new_key: "j".repeat(64) }));
    expect((await there("GET", `${at}/get_value/u/admin/moved`)).json()).toBe("hunter2 ü");
  });

  test("does not block an archive of plain secrets", async () => {
    await post("/variables/create?already_encrypted=true", variable("u/admin/shut", "c2VhbGVk"));
    await post("/variables/create", variable("u/admin/open", "plain"));
    const more = "&plain_secrets=true";
    expect(await file("u/admin/shut.variable.json", more)).toMatchObject({ value: "c2VhbGVk" });
    expect(await file("u/admin/open.variable.json", more)).toMatchObject({ value: "plain" });
  });
});

describe("a route", () => {
  const route = (name: string, more: object = {}) => ({
    path: `u/admin/${name}`,
    route_path: name,
    route_path_key: name,
    http_method: "post",
    script_path: "u/admin/echo",
    is_flow: false,
    ...more,
  });
  const send = (name: string, headers: Record<string, string> = {}, body = "{}") =>
    fetch(`${server.url}/api/r/${name}`, { method: "POST", headers, body });

  test("disabled by a text stays disabled; unknown fields are returned", async () => {
    const retry = { constant: { attempts: 2, seconds: 1 } };
    const body = route("off", { mode: "disabled", retry, authentication_resource_path: null });
    await post("/http_triggers/create", body);
    expect((await send("off")).status).toBe(404);
    expect(await file("u/admin/off.http_trigger.json")).toMatchObject({
      mode: "disabled",
      route_path_key: "off",
      authentication_resource_path: null,
      retry,
    });
    expect(await file("u/admin/off.http_trigger.json")).not.toHaveProperty("enabled");
    await post("/http_triggers/update/u/admin/off", { ...body, mode: "enabled" });
    expect((await send("off")).status).toBe(200);
    expect(await get("/http_triggers/get/u/admin/off")).toMatchObject({ enabled: true, mode: "enabled" });
  });

  test("rejects callers while its key does not exist, and accepts those with the key afterwards", async () => {
    const auth = { authentication_method: "api_key", authentication_resource_path: "u/admin/late_key" };
    await post("/http_triggers/create", route("late", auth));
    const key = { "x-api-key": "open sesame" };
    expect((await send("late", key)).status).toBe(500);
    const value = { api_key_secret: "open sesame" };
    await post("/resources/create", { path: "u/admin/late_key", resource_type: "api_key_auth", value });
    expect([(await send("late")).status, (await send("late", key)).status]).toEqual([401, 200]);
  });

  test("does not use a key that was created later by another user", async () => {
    const path = "u/admin/not_anns";
    await deploy(ann, "acme", "u/ann/x", "export const main = () => 1");
    const body = {
      ...route("guess", { authentication_method: "api_key", authentication_resource_path: `$var:${path}` }),
      path: "u/ann/guess",
      script_path: "u/ann/x",
      workspaced_route: true,
    };
    await expectOk(ann("POST", `${ACME}/http_triggers/create`, body));
    await post("/variables/create", variable(path, "sesame"));
    expect((await send("acme/guess", { "x-api-key": "sesame" })).status).toBe(500);
  });

  test("accepts signatures configured by a resource of the API's form", async () => {
    const auth = { authentication_method: "signature", authentication_resource_path: "u/admin/signed" };
    await post("/http_triggers/create", route("signed", auth));
    const sign = (text: string, hash = "sha512") => ({
      "x-sig": `v1=${createHmac(hash, "shared secret").update(text).digest("base64")}`,
    });
    expect((await send("signed", sign("{}"))).status).toBe(500);
    const value = {
      secret_key: "$var:u/admin/signing",
      signature_provider: "Custom",
      authentication_config: {
        signature_header_name: "X-Sig",
        algorithm: "sha512",
        encoding: "base64",
        signature_prefix: "v1=",
      },
    };
    await post("/resources/create", { path: "u/admin/signed", resource_type: "signature_auth", value });
    expect((await send("signed", sign("{}"))).status).toBe(500);
    await post("/variables/create", variable("u/admin/signing", "shared secret"));
    const statuses = [
      await send("signed", sign("{}")),
      await send("signed", sign("{ }")),
      await send("signed", sign("{}", "sha256")),
      await send("signed"),
    ].map(({ status }) => status);
    expect(statuses).toEqual([200, 401, 401, 401]);
  });

  test.each([
    ["Shopify", { secret_key: "x", signature_provider: "Shopify" }],
    ["Custom", { secret_key: "x", signature_provider: "Custom" }],
  ])("rejects a resource without usable content: %s", async (name, value) => {
    const path = `u/admin/bad_${name}`;
    await post("/resources/create", { path, resource_type: "signature_auth", value });
    const auth = { authentication_method: "signature", authentication_resource_path: path };
    expect((await ask("POST", `${ACME}/http_triggers/create`, route(`bad${name}`, auth))).status).toBe(400);
  });
});

describe("a schedule", () => {
  test("for a script that cannot run yet, or a flow with retries, is stored", async () => {
    const script = {
      path: "u/admin/never",
      language: "bun",
      content: "import x from './not_there.ts'; export const main = () => x",
    };
    await post("/scripts/create", script);
    const body = {
      path: "u/admin/soon",
      schedule: "0 0 1 1 *",
      timezone: "UTC",
      script_path: "u/admin/never",
      args: {},
      enabled: false,
    };
    const told = { dynamic_skip: null, labels: ["a"] };
    await post("/schedules/create", { ...body, ...told });
    expect(await file("u/admin/soon.schedule.json")).toMatchObject(told);
  });
});

describe("package lists of a workspace", () => {
  test("are stored, returned by language and name, and deleted", async () => {
    const create = (content: string, name?: string) =>
      post("/workspace_dependencies/create", { workspace_id: "acme", language: "python3", content, name });
    await create("pandas\n");
    await create("pandas>2\n");
    await create("numpy\n", "small");
    expect(await get("/workspace_dependencies/get_latest/python3")).toMatchObject({ content: "pandas>2\n" });
    expect(await get("/workspace_dependencies/list")).toMatchObject([{ name: null }, { name: "small" }]);
    expect(await file("dependencies/requirements.in")).toBe("pandas>2\n");
    expect(await file("dependencies/small.requirements.in")).toBe("numpy\n");
    await post("/workspace_dependencies/delete/python3?name=small", {});
    const gone = await ask("GET", `${ACME}/workspace_dependencies/get_latest/python3?name=small`);
    expect(gone.status).toBe(404);
    const body = { language: "python3", content: "evil" };
    expect((await ann("POST", `${ACME}/workspace_dependencies/create`, body)).status).toBe(403);
  });
});

describe("an app of code", () => {
  test("is pushed with its bundle, and pulled as its files", async () => {
    const value = { runnables: {}, files: { "/index.tsx": "export {}" } };
    const app = { path: "u/admin/coded", summary: "Coded", value, policy: { execution_mode: "viewer" } };
    const made = await formOf("/apps/create_raw", "app", app, { js: "1", css: "" });
    expect(made).toEqual({ status: 201, text: "u/admin/coded" });
    expect(await get("/apps/get/p/u/admin/coded")).toMatchObject({ raw_app: true, value });
    expect(await file("u/admin/coded.raw_app.json")).toMatchObject({ summary: "Coded", value });
    const next = { ...app, summary: "Next" };
    const changed = await formOf("/apps/update_raw/u/admin/coded", "app", next, {
      js: "2",
      css: "",
    });
    expect(changed.status).toBe(200);
    expect(await file("u/admin/coded.raw_app.json")).toMatchObject({ summary: "Next" });
    const listed = (await get("/apps/list")) as { path: string; raw_app: boolean }[];
    expect(listed.find(({ path }) => path === "u/admin/coded")).toMatchObject({ raw_app: true });
  });

  test.each([
    [{}, "field `app`"],
    [{ app: "{" }, "is not JSON"],
  ])("is rejected without its required parts: %j", async (fields, says) => {
    const body = new FormData();
    for (const [name, text] of Object.entries(fields)) body.append(name, text as string);
    const headers = { authorization: `Bearer ${token}` };
    const answer = await fetch(`${server.url}/api${ACME}/apps/create_raw`, {
      method: "POST",
      headers,
      body,
    });
    expect([answer.status, await answer.text()]).toEqual([400, expect.stringContaining(says)]);
  });
});

describe("a script", () => {
  test("that was bundled runs its bundle and shows its source", async () => {
    const content = "import { y } from '../lib/y.ts'; export const main = () => y;";
    const script = { path: "u/admin/bundled", content, language: "bun", codebase: "abc.esm" };
    const made = await formOf("/scripts/create_snapshot?skip_if_noop=true", "script", script, {
      file: "export const main = () => 'from the bundle'",
    });
    expect(made.status).toBe(201);
    const ran = await ask("POST", `${ACME}/jobs/run_wait_result/p/u/admin/bundled`, {});
    expect(ran.json()).toBe("from the bundle");
    const shown = await get("/scripts/get/p/u/admin/bundled");
    expect(shown).toMatchObject({ content, codebase: "abc.esm" });
    expect(shown).not.toHaveProperty("bundle");
    const archive = await formOf("/scripts/create_snapshot", "script", script, { file: "a\0b" });
    expect([archive.status, archive.text]).toEqual([400, expect.stringContaining("one file of JavaScript")]);
  });

  test("without statements fails when it runs; unknown fields are returned", async () => {
    const told = { has_preprocessor: false, labels: ["x"], debounce_key: "k" };
    await post("/scripts/create", { path: "u/admin/empty", content: "", language: "sqlite", ...told });
    expect(await file("u/admin/empty.script.json")).toMatchObject(told);
    const ran = await ask("POST", `${ACME}/jobs/run_wait_result/p/u/admin/empty`, {});
    expect(ran.text).toContain("there is no statement to run");
  });

  test.each([
    ["go", "go"],
    ["rust", "rs"],
    ["nu", "nu"],
    ["duckdb", "duckdb.sql"],
    ["deno", "deno.ts"],
    ["ansible", "playbook.yml"],
  ])("in %s is a file that ends in %s", async (language, ending) => {
    const content = language === "deno" ? "export const main = () => 1" : "code";
    await post("/scripts/create", { path: `u/admin/in_${language}`, content, language, lock: "" });
    expect(await file(`u/admin/in_${language}.${ending}`)).toBe(content);
  });
});
