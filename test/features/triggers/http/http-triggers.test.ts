/** HTTP routes: which one answers a request, with which arguments, as whom, and who is rejected. */
import { describe, expect, test } from "bun:test";
import { deploy, expectOk } from "../../../support/harness.ts";
import {
  ann,
  ask,
  create,
  HTTP_TRIGGERS,
  nextNumber,
  nobody,
  route,
  server,
  setUpRoutes,
} from "./http-triggers-setup.ts";

setUpRoutes();

const ECHO = "export const main = (...args: unknown[]) => args[0]";

describe("a route", () => {
  test("is created, read, changed, listed, disabled and deleted", async () => {
    const { path, url } = await create({ summary: "orders", is_async: true, requires_auth: true });
    const read = (await ask("GET", `${HTTP_TRIGGERS}/get/${path}`)).json();
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
      // Clients that do not change the path of a route omit it.
      route_path: undefined,
    };
    expect((await ask("POST", `${HTTP_TRIGGERS}/update/${path}`, changed)).text).toBe(to);
    expect((await nobody("POST", url, {})).status).toBe(405);
    expect((await nobody("PUT", url, { n: 1 })).json()).toEqual({ n: 1 });
    expect((await ask("GET", `${HTTP_TRIGGERS}/exists/${path}`)).json()).toBe(false);
    expect((await ask("GET", `${HTTP_TRIGGERS}/exists/${to}`)).json()).toBe(true);
    const listed = (await ask("GET", `${HTTP_TRIGGERS}/list?path=u/admin/shown&path_start=${to}`)).json();
    expect(listed.map((row: any) => row.path)).toEqual([to]);
    await expectOk(ask("POST", `${HTTP_TRIGGERS}/setenabled/${to}`, { enabled: false }));
    expect((await nobody("PUT", url, {})).status).toBe(404);
    await expectOk(ask("POST", `${HTTP_TRIGGERS}/setenabled/${to}`, { enabled: true }));
    expect((await nobody("PUT", url, {})).status).toBe(200);
    await expectOk(ask("DELETE", `${HTTP_TRIGGERS}/delete/${to}`));
    expect((await nobody("PUT", url, {})).status).toBe(404);
  });

  test.each(["get", "post", "put", "patch", "delete"])("returns %s", async (http_method) => {
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
    const { url } = await create({ route_path: `pre${nextNumber()}/:id`, script_path });
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

  test("returns the script's status and headers, under a separate content policy", async () => {
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
    const path = `u/admin/shared_${nextNumber()}`;
    const body = route({
      path,
      script_path: "u/admin/whoami",
      http_method: "get",
      route_path: "as/whom",
      workspaced_route: true,
    });
    await expectOk(ask("POST", `${HTTP_TRIGGERS}/create`, body));
    for (const [kind, at] of [
      ["http_trigger", path],
      ["script", "u/admin/whoami"],
    ]) {
      await expectOk(ask("POST", `/w/acme/acls/add/${kind}/${at}`, { owner: "u/ann", write: true }));
    }
    expect((await nobody("GET", "/r/acme/as/whom")).json()).toBe("admin");
    await expectOk(ann("POST", `${HTTP_TRIGGERS}/update/${path}`, body));
    expect((await nobody("GET", "/r/acme/as/whom")).json()).toBe("ann");
    await expectOk(ask("POST", "/w/acme/acls/remove/script/u/admin/whoami", { owner: "u/ann" }));
    const refused = await nobody("GET", "/r/acme/as/whom");
    expect(refused.status).toBe(500);
    expect(refused.text).not.toContain("whoami");
  });
});

describe("of several routes", () => {
  test("the more specific one answers, with backtracking", async () => {
    const at = `several${nextNumber()}`;
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
    const refused = await ask("POST", `${HTTP_TRIGGERS}/create`, route({ route_path: second, ...more }));
    expect([refused.status, refused.text]).toEqual([
      400,
      expect.stringContaining(`already served by ${path}`),
    ]);
    const exists = (body: object) =>
      ask("POST", `${HTTP_TRIGGERS}/route_exists`, {
        route_path: second,
        http_method: "post",
        ...more,
        ...body,
      });
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
    ["files for a post", { static_asset_config: { s3: "a" } }, "only served to `get`"],
  ])("%s", async (_, more, says) => {
    const refused = await ask("POST", `${HTTP_TRIGGERS}/create`, route(more));
    expect([refused.status >= 400 && refused.status < 500, refused.text]).toEqual([
      true,
      expect.stringContaining(says),
    ]);
  });

  test("rejects paths of others, operators, and unreadable items", async () => {
    expect((await ann("POST", `${HTTP_TRIGGERS}/create`, route())).status).toBe(403);
    const { path } = await create();
    expect((await ann("GET", `${HTTP_TRIGGERS}/get/${path}`)).status).toBe(404);
    expect((await ann("DELETE", `${HTTP_TRIGGERS}/delete/${path}`)).status).toBe(404);
    const { ask: operator } = await server.member("acme", `op${nextNumber()}`, "operator");
    expect((await operator("POST", `${HTTP_TRIGGERS}/create`, route())).status).toBe(403);
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
    const refused = await ann("POST", `${HTTP_TRIGGERS}/create`, body);
    expect([refused.status, refused.text]).toEqual([400, expect.stringContaining("u/admin/key")]);
  });
});
