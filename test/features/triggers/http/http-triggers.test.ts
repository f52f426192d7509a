/** HTTP routes: what answers a request, with which arguments, as whom, and who may not. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import {
  type Answer,
  type Ask,
  deploy,
  expectOk,
  startTestServer,
  type TestServer,
  until,
} from "../../../support/harness.ts";

let server: TestServer;
let ask: Ask;
let ann: Ask;
let nobody: Ask;

const ECHO = "export const main = (...args: unknown[]) => args[0]";
const PREPROCESSED = `export const preprocessor = (event: any) => ({ event });
export const main = (event: any) => event;`;
const NAMED = `export const preprocessor = (wm_trigger: any, id: string) => ({ got: { wm_trigger, id } });
export const main = (got: any) => got;`;

beforeAll(async () => {
  server = await startTestServer();
  ({ ask } = await server.workspace());
  await expectOk(server.operator("POST", "/settings/global/root_route_workspaces", { value: ["*"] }));
  ({ ask: ann } = await server.member("acme", "ann"));
  nobody = server.as(undefined);
  const shown =
    "export const main = (id?: string, q?: string, n?: number, body?: unknown, raw_string?: string, rest?: string) => ({ id, q, n, body, raw_string, rest })";
  await deploy(ask, "acme", "u/admin/shown", shown);
  await deploy(ask, "acme", "u/admin/event", PREPROCESSED);
  await deploy(ask, "acme", "u/admin/named", NAMED);
  await deploy(ask, "acme", "u/admin/fail", "export const main = () => { throw new Error('never') }");
  await deploy(
    ask,
    "acme",
    "u/admin/page",
    "export const main = () => ({ wm_status_code: 418, wm_content_type: 'text/html', result: '<p>hi' })",
  );
  await deploy(ask, "acme", "u/admin/whoami", "export const main = () => process.env.WM_USERNAME");
  const flow = {
    path: "u/admin/flow",
    summary: "",
    value: { modules: [{ id: "a", value: { type: "identity" } }] },
  };
  await expectOk(ask("POST", "/w/acme/flows/create", flow));
});
afterAll(() => server.stop());

const base = "/w/acme/http_triggers";
let count = 0;
const route = (more: object = {}) => {
  const n = ++count;
  return {
    path: `u/admin/route_${n}`,
    route_path: `r${n}`,
    http_method: "post",
    script_path: "u/admin/shown",
    is_flow: false,
    ...more,
  };
};
async function create(more: object = {}, by: Ask = ask): Promise<{ path: string; url: string }> {
  const body = route(more) as ReturnType<typeof route> & { workspaced_route?: boolean };
  await expectOk(by("POST", `${base}/create`, body));
  return { path: body.path, url: `/r/${body.workspaced_route ? "acme/" : ""}${body.route_path}` };
}

describe("a route", () => {
  test("is created, read, changed, listed, disabled and deleted", async () => {
    const { path, url } = await create({ summary: "orders", is_async: true, requires_auth: true });
    const read = (await ask("GET", `${base}/get/${path}`)).json();
    expect(read).toMatchObject({
      path,
      route_path: url.slice(3),
      http_method: "post",
      script_path: "u/admin/shown",
      is_flow: false,
      is_async: true,
      request_type: "async",
      requires_auth: true,
      authentication_method: "token",
      is_static_website: false,
      workspace_id: "acme",
      edited_by: "admin",
      extra_perms: {},
    });
    const to = `${path}_moved`;
    const changed = {
      ...read,
      path: to,
      http_method: "PUT",
      request_type: "sync",
      authentication_method: "none",
      // Clients that do not move a route leave its place out.
      route_path: undefined,
    };
    expect((await ask("POST", `${base}/update/${path}`, changed)).text).toBe(to);
    expect((await nobody("POST", url, {})).status).toBe(405);
    expect((await nobody("PUT", url, { n: 1 })).json()).toEqual({ n: 1 });
    expect((await ask("GET", `${base}/exists/${path}`)).json()).toBe(false);
    expect((await ask("GET", `${base}/exists/${to}`)).json()).toBe(true);
    const listed = (await ask("GET", `${base}/list?path=u/admin/shown&path_start=${to}`)).json();
    expect(listed.map((row: any) => row.path)).toEqual([to]);
    await expectOk(ask("POST", `${base}/setenabled/${to}`, { enabled: false }));
    expect((await nobody("PUT", url, {})).status).toBe(404);
    await expectOk(ask("POST", `${base}/setenabled/${to}`, { enabled: true }));
    expect((await nobody("PUT", url, {})).status).toBe(200);
    await expectOk(ask("DELETE", `${base}/delete/${to}`));
    expect((await nobody("PUT", url, {})).status).toBe(404);
  });

  test.each(["get", "post", "put", "patch", "delete"])("answers %s", async (http_method) => {
    const { url } = await create({ http_method });
    const answer = await nobody(http_method.toUpperCase(), `${url}?q=x`);
    expect([answer.status, answer.json()]).toEqual([200, { q: "x" }]);
  });

  test("takes arguments from its query, body and path, in rising precedence", async () => {
    const { url } = await create({ route_path: "orders/:id/lines/*rest" });
    const at = url.replace(":id", "a%2Fb").replace("*rest", "1/two%20words");
    const answer = await nobody("POST", `${at}?q=query&n=5&id=evil`, { n: 7, id: "body" });
    expect(answer.json()).toEqual({ id: "a/b", q: "query", n: 7, rest: "1/two words" });
  });

  test("wraps the body and adds the raw text, if configured", async () => {
    const { url } = await create({ route_path: "raw/:id", raw_string: true, wrap_body: true });
    const answer = await nobody("POST", url.replace(":id", "7"), '{"n": 1}');
    expect(answer.json()).toEqual({ id: "7", body: { n: 1 }, raw_string: '{"n": 1}' });
  });

  test.each([
    ["one event", "u/admin/event", (given: any) => given],
    ["arguments by name", "u/admin/named", (given: any) => given.wm_trigger.http],
  ])("passes %s to a preprocessor", async (_, script_path, of) => {
    const { url } = await create({ route_path: `pre${++count}/:id`, script_path });
    const answer = await nobody(
      "POST",
      `${url.replace(":id", "9")}?q=1&token=x`,
      { n: 1 },
      { "x-mine": "yes", authorization: "Bearer no" },
    );
    const given = answer.json();
    const kind = given.kind ?? given.wm_trigger.kind;
    expect(kind).toBe("http");
    const facts = of(given);
    expect(facts).toMatchObject({
      route: url.slice(3),
      path: `/${url.slice(3).replace(":id", "9")}`,
      method: "post",
      params: { id: "9" },
      query: { q: "1" },
    });
    expect(facts.headers["x-mine"]).toBe("yes");
    expect(facts.headers.authorization).toBeUndefined();
    if (given.body) expect([given.body, given.raw_string]).toEqual([{ n: 1 }, '{"n":1}']);
    else expect(given.id).toBe("9");
  });

  test("runs a flow, whose job names the trigger", async () => {
    const { url, path } = await create({ script_path: "u/admin/flow", is_flow: true, request_type: "async" });
    const started = await nobody("POST", url, { x: 1 });
    expect(started.status).toBe(201);
    const job = (await ask("GET", `/w/acme/jobs_u/get/${started.text}`)).json();
    expect(job).toMatchObject({
      job_kind: "flow",
      script_path: "u/admin/flow",
      created_by: `http-${path}`,
      permissioned_as: "u/admin",
      args: { x: 1 },
    });
  });

  test("streams a result", async () => {
    const { url } = await create({ request_type: "sync_sse", http_method: "get" });
    const answer = await nobody("GET", `${url}?q=1`);
    expect(answer.headers.get("content-type")).toStartWith("text/event-stream");
    expect(answer.text).toContain('"completed":true');
    expect(answer.text).toContain('"q":"1"');
  });

  test("answers with the script's status and headers, under a separate content policy", async () => {
    const { url } = await create({ script_path: "u/admin/page", http_method: "get" });
    const answer = await nobody("GET", url);
    expect([answer.status, answer.text]).toEqual([418, "<p>hi"]);
    expect(answer.headers.get("content-security-policy")).toContain("sandbox");
    expect(answer.headers.get("x-content-type-options")).toBe("nosniff");
    const failed = await nobody("POST", (await create({ script_path: "u/admin/fail" })).url, {});
    expect([failed.status, failed.json().error.message]).toEqual([500, "never"]);
  });

  test("allows any origin", async () => {
    const { url } = await create({ http_method: "put" });
    const preflight = await nobody("OPTIONS", url, undefined, {
      origin: "https://shop.example",
      "access-control-request-method": "PUT",
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-origin")).toBe("*");
    expect(preflight.headers.get("access-control-allow-methods")).toContain("PUT");
    expect(preflight.headers.get("access-control-allow-headers")).toBe("*, authorization");
  });

  test("runs with the rights of its last editor", async () => {
    const path = `u/admin/shared_${++count}`;
    const body = route({
      path,
      script_path: "u/admin/whoami",
      http_method: "get",
      route_path: "as/whom",
      workspaced_route: true,
    });
    await expectOk(ask("POST", `${base}/create`, body));
    for (const [kind, at] of [
      ["http_trigger", path],
      ["script", "u/admin/whoami"],
    ]) {
      await expectOk(ask("POST", `/w/acme/acls/add/${kind}/${at}`, { owner: "u/ann", write: true }));
    }
    expect((await nobody("GET", "/r/acme/as/whom")).json()).toBe("admin");
    await expectOk(ann("POST", `${base}/update/${path}`, body));
    expect((await nobody("GET", "/r/acme/as/whom")).json()).toBe("ann");
    await expectOk(ask("POST", "/w/acme/acls/remove/script/u/admin/whoami", { owner: "u/ann" }));
    const refused = await nobody("GET", "/r/acme/as/whom");
    expect(refused.status).toBe(500);
    expect(refused.text).not.toContain("whoami");
  });
});

describe("of several routes", () => {
  test("the more specific one answers, with backtracking", async () => {
    const at = `several${++count}`;
    const answers = (name: string, route_path: string) =>
      create({
        http_method: "get",
        route_path: `${at}/${route_path}`,
        static_asset_config: undefined,
        script_path: name,
      });
    for (const name of ["one", "any", "rest", "deep"]) {
      await deploy(ask, "acme", `u/admin/${name}`, `export const main = () => "${name}"`);
    }
    await answers("u/admin/one", "a/b");
    await answers("u/admin/any", ":x/c");
    await answers("u/admin/rest", "*");
    await answers("u/admin/deep", ":x/:y/z");
    const found = async (path: string) => (await expectOk(nobody("GET", `/r/${at}/${path}`))).json();
    expect(await found("a/b")).toBe("one");
    expect(await found("a/b/")).toBe("one");
    expect(await found("a/c")).toBe("any");
    expect(await found("a/b/z")).toBe("deep");
    expect(await found("a/b/c/d")).toBe("rest");
    expect(await found("a")).toBe("rest");
    expect((await nobody("GET", `/r/${at}`)).status).toBe(404);
  });

  test.each([
    ["the same", "same/:id", "same/:name", {}],
    ["the rest", "same2/*", "same2/*all", {}],
    ["the same below a workspace", "acme/orders", "orders", { workspaced_route: true }],
  ])("two that would both match %s are rejected", async (_, first, second, more) => {
    const { path } = await create({ route_path: first });
    const refused = await ask("POST", `${base}/create`, route({ route_path: second, ...more }));
    expect([refused.status, refused.text]).toEqual([
      400,
      expect.stringContaining(`already served by ${path}`),
    ]);
    const exists = (body: object) =>
      ask("POST", `${base}/route_exists`, { route_path: second, http_method: "post", ...more, ...body });
    expect((await exists({})).json()).toBe(true);
    expect((await exists({ trigger_path: path })).json()).toBe(false);
    expect((await exists({ http_method: "get" })).json()).toBe(false);
  });

  test("a conflict does not name a route of another workspace", async () => {
    const other = await server.workspace("other");
    await deploy(other.ask, "other", "u/admin/x", "export const main = () => 1");
    const { url } = await create();
    const body = route({ path: "u/admin/x", script_path: "u/admin/x", route_path: url.slice(3) });
    const refused = await other.ask("POST", "/w/other/http_triggers/create", body);
    expect([refused.status, refused.text]).toEqual([
      400,
      expect.stringContaining("already served by another one"),
    ]);
    await expectOk(other.ask("POST", "/w/other/http_triggers/create", { ...body, workspaced_route: true }));
    expect((await nobody("POST", `/r/other/${url.slice(3)}`)).json()).toBe(1);
  });
});

describe("invalid settings are rejected", () => {
  test.each([
    ["an empty route", { route_path: "/" }, "it is empty"],
    ["a rest in the middle", { route_path: "a/*x/b" }, "must be last"],
    ["a part that is not text", { route_path: "a b" }, "must be plain text"],
    ["a name twice", { route_path: ":id/:id" }, "stands in it twice"],
    ["a step out", { route_path: "../api" }, "`.` or `..`"],
    ["a script that is not there", { script_path: "u/admin/none" }, "u/admin/none"],
    ["a method that is none", { http_method: "head" }, "http_method"],
    ["a key that is nowhere", { authentication_method: "api_key" }, "authentication_resource_path"],
    ["a signature without a rule", { authentication_method: "signature" }, "`signature`"],
    ["a website without files", { is_static_website: true }, "static_asset_config"],
    ["files for a post", { static_asset_config: { s3: "a" } }, "`get` alone"],
  ])("%s", async (_, more, says) => {
    const refused = await ask("POST", `${base}/create`, route(more));
    expect([refused.status >= 400 && refused.status < 500, refused.text]).toEqual([
      true,
      expect.stringContaining(says),
    ]);
  });

  test("rejects paths of others, operators, and unreadable items", async () => {
    expect((await ann("POST", `${base}/create`, route())).status).toBe(403);
    const { path } = await create();
    expect((await ann("GET", `${base}/get/${path}`)).status).toBe(404);
    expect((await ann("DELETE", `${base}/delete/${path}`)).status).toBe(404);
    const { ask: operator } = await server.member("acme", `op${++count}`, "operator");
    expect((await operator("POST", `${base}/create`, route())).status).toBe(403);
    await expectOk(
      ask("POST", "/w/acme/variables/create", {
        path: "u/admin/key",
        value: "k",
        is_secret: true,
        description: "",
      }),
    );
    const body = route({
      workspaced_route: true,
      path: "u/ann/guess",
      script_path: "u/ann/x",
      authentication_method: "api_key",
      authentication_resource_path: "$var:u/admin/key",
    });
    await deploy(ann, "acme", "u/ann/x", ECHO);
    const refused = await ann("POST", `${base}/create`, body);
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("u/admin/key")]);
  });
});

describe("callers are authenticated", () => {
  const statuses = async (answers: Promise<Answer>[]) =>
    (await Promise.all(answers)).map(({ status }) => status);

  test("by a token whose owner may run the target", async () => {
    const path = `u/admin/asked_${++count}`;
    const { url } = await create({ path, requires_auth: true });
    const bob = await server.member("acme", `bob${count}`);
    const stranger = await server.user(`stranger${count}`);
    expect(
      await statuses([
        ask("POST", url, {}),
        bob.ask("POST", url, {}),
        stranger.ask("POST", url, {}),
        nobody("POST", url, {}),
      ]),
    ).toEqual([200, 403, 401, 401]);
    const share = (kind: string, at: string) =>
      expectOk(ask("POST", `/w/acme/acls/add/${kind}/${at}`, { owner: `u/bob${count}`, write: false }));
    await share("http_trigger", path);
    expect((await bob.ask("POST", url, {})).status).toBe(404);
    await share("script", "u/admin/shown");
    expect((await bob.ask("POST", url, {})).status).toBe(200);
    const token = async (body: object) =>
      server.as((await expectOk(ask("POST", "/users/tokens/create", body))).text);
    const right = await token({ scopes: ["jobs:run:scripts:u/admin/shown"], workspace_id: "acme" });
    const wrong = await token({ scopes: ["jobs:run:scripts:u/admin/other"], workspace_id: "acme" });
    expect(await statuses([right("POST", url, {}), wrong("POST", url, {})])).toEqual([200, 403]);
  });

  test("by a key in a header", async () => {
    const at = `u/admin/api_key_${++count}`;
    await expectOk(
      ask("POST", "/w/acme/variables/create", {
        path: at,
        value: "secret-key",
        is_secret: true,
        description: "",
      }),
    );
    const value = { api_key_header: "X-Shop-Key", api_key_secret: `$var:${at}` };
    await expectOk(ask("POST", "/w/acme/resources/create", { path: at, value, resource_type: "any" }));
    const asks = {
      authentication_method: "api_key",
      authentication_resource_path: at,
      script_path: "u/admin/event",
    };
    const { url, path } = await create(asks);
    const wrong = nobody("POST", url, {}, { "x-shop-key": "secret-kex" });
    expect(await statuses([nobody("POST", url, {}), wrong])).toEqual([401, 401]);
    const answer = await nobody("POST", url, {}, { "x-shop-key": "secret-key" });
    expect(answer.status).toBe(200);
    expect(answer.text).not.toContain("secret-key");
    expect((await ask("GET", `${base}/get/${path}`)).text).not.toContain("secret-key");
    const plain = await create({ ...asks, authentication_resource_path: `$var:${at}` });
    expect((await nobody("POST", plain.url, {}, { "x-api-key": "secret-key" })).status).toBe(200);
    await expectOk(ask("POST", `/w/acme/variables/update/${at}`, { value: "other" }));
    expect((await nobody("POST", plain.url, {}, { "x-api-key": "secret-key" })).status).toBe(401);
    const elsewhere = {
      path: `u/ann/api_${at.slice(8)}`,
      value: { api_key_secret: `$var:${at}` },
      resource_type: "any",
    };
    await expectOk(ask("POST", "/w/acme/resources/create", elsewhere));
    const away = route({ ...asks, authentication_resource_path: elsewhere.path });
    expect((await ask("POST", `${base}/create`, away)).text).toContain("below u/ann/ alone");
    await expectOk(ask("DELETE", `/w/acme/variables/delete/${at}`));
    expect((await nobody("POST", plain.url, {}, { "x-api-key": "other" })).status).toBe(500);
  });

  test("by a name and a password", async () => {
    const at = `u/admin/basic_${++count}`;
    const value = { username: "shop", password: "päss" };
    await expectOk(ask("POST", "/w/acme/resources/create", { path: at, value, resource_type: "any" }));
    const { url } = await create({ authentication_method: "basic_http", authentication_resource_path: at });
    const sent = (pair: string) => ({ authorization: `basic ${Buffer.from(pair).toString("base64")}` });
    expect(
      await statuses([nobody("POST", url, {}, sent("shop:päss")), nobody("POST", url, {}, sent("shop:x"))]),
    ).toEqual([200, 401]);
    expect((await nobody("POST", url, {})).headers.get("www-authenticate")).toStartWith("Basic");
  });

  test("by a signature", async () => {
    const at = `u/admin/signing_${++count}`;
    await expectOk(
      ask("POST", "/w/acme/variables/create", { path: at, value: "shh", is_secret: true, description: "" }),
    );
    const { url } = await create({
      authentication_method: "signature",
      signature: { scheme: "github", secret: at },
    });
    const text = '{"n":1}';
    const sign = (secret: string) => ({
      "x-hub-signature-256": `sha256=${createHmac("sha256", secret).update(text).digest("hex")}`,
    });
    const answer = await nobody("POST", url, text, sign("shh"));
    expect([answer.status, answer.json()]).toEqual([200, { n: 1 }]);
    expect(await statuses([nobody("POST", url, text, sign("no")), nobody("POST", url, text)])).toEqual([
      401, 401,
    ]);
  });
});

test("a route whose secret cannot be read yet is stored, and answers once it is set", async () => {
  const at = `u/admin/sealed_${++count}`;
  const sealed = { path: at, value: "c2VhbGVkIGVsc2V3aGVyZQ==", is_secret: true, description: "" };
  await expectOk(ask("POST", "/w/acme/variables/create?already_encrypted=true", sealed));
  const resource = { path: `${at}_key`, value: { api_key_secret: `$var:${at}` }, resource_type: "any" };
  await expectOk(ask("POST", "/w/acme/resources/create", resource));
  const { url } = await create({
    authentication_method: "api_key",
    authentication_resource_path: resource.path,
  });
  const call = () => nobody("POST", url, {}, { "x-api-key": "set anew" });
  expect((await call()).status).toBe(500);
  await expectOk(ask("POST", `/w/acme/variables/update/${at}`, { value: "set anew" }));
  expect((await call()).status).toBe(200);
});

describe("files", () => {
  const INDEX = "<script src=app.js></script>";
  beforeAll(async () => {
    const set = { large_file_storage: { type: "FilesystemStorage" } };
    await expectOk(ask("POST", "/w/acme/workspaces/edit_large_file_storage_config", set));
    for (const [key, text] of [
      ["site/index.html", INDEX],
      ["site/app.js", "run()"],
      ["site/docs/index.html", "docs"],
      ["secret.txt", "no"],
    ]) {
      await expectOk(ask("POST", `/w/acme/job_helpers/upload_s3_file?file_key=${key}`, text));
    }
  });

  test("are served as a website, without access outside of its folder", async () => {
    const { url } = await create({
      http_method: "get",
      is_static_website: true,
      static_asset_config: { s3: "site" },
      script_path: "",
    });
    const get = (path: string) => nobody("GET", url + path);
    const page = await get("/");
    expect([page.status, page.text]).toEqual([200, INDEX]);
    expect(page.headers.get("content-type")).toStartWith("text/html");
    expect(page.headers.get("content-disposition")).toBe("inline");
    expect(page.headers.get("content-security-policy")).toStartWith("sandbox");
    const redirected = await fetch(`${server.url}/api${url}?x=1`, { redirect: "manual" });
    expect([redirected.status, redirected.headers.get("location")]).toEqual([308, `${url.slice(3)}/?x=1`]);
    expect((await get("/app.js")).text).toBe("run()");
    expect((await get("/app.js")).headers.get("content-type")).toContain("javascript");
    expect((await get("/docs/")).text).toBe("docs");
    expect((await get("/orders/7")).text).toBe(INDEX);
    expect((await get("/none.js")).status).toBe(404);
    const head = await nobody("HEAD", `${url}/app.js`);
    expect([head.status, head.text, head.headers.get("content-length")]).toEqual([200, "", "5"]);
    expect((await nobody("HEAD", `${url}/none.js`)).status).toBe(404);
    expect((await get("/%2e%2e%2fsecret.txt")).status).toBe(400);
    expect((await nobody("POST", `${url}/app.js`)).status).toBe(405);
    const taken = await ask(
      "POST",
      `${base}/create`,
      route({ http_method: "get", route_path: `${url.slice(3)}/*x` }),
    );
    expect(taken.status).toBe(400);
  });

  test("can be a single file, under a configured name", async () => {
    const { url } = await create({
      http_method: "get",
      static_asset_config: { s3: "site/app.js", filename: "shop.js" },
      script_path: "",
    });
    const answer = await nobody("GET", url);
    expect([answer.text, answer.headers.get("content-disposition")]).toEqual([
      "run()",
      'inline; filename="shop.js"',
    ]);
    const part = await nobody("GET", url, undefined, { range: "bytes=0-2" });
    expect([part.status, part.text]).toEqual([206, "run"]);
  });
});

test("a route changed on another server is served as changed", async () => {
  const { path, url } = await create();
  expect((await nobody("POST", url, {})).status).toBe(200);
  if (!process.env.DATABASE_URL) return;
  const { httpTriggers } = await import("../../../../src/features/triggers/http/tables.ts");
  const { eq } = await import("drizzle-orm");
  const { openClusterBus } = await import("../../../../src/platform/cluster/bus.ts");
  const { db, log } = server.server.app;
  await db.write((tx) => tx.delete(httpTriggers).where(eq(httpTriggers.path, path)));
  const other = await openClusterBus(db, log, false);
  other.publish("routes");
  await until(async () => ((await nobody("POST", url, {})).status === 404 ? true : undefined), "the change");
  await other.stop();
});
