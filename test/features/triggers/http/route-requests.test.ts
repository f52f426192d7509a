/** Requests to routes: how callers are authenticated, files, and changes by another server. */
import { beforeAll, describe, expect, test } from "bun:test";
import { createHmac } from "node:crypto";
import { type Answer, expectOk, until } from "../../../support/harness.ts";
import {
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

describe("callers are authenticated", () => {
  const statuses = async (answers: Promise<Answer>[]) =>
    (await Promise.all(answers)).map(({ status }) => status);

  test("by a token whose owner may run the target", async () => {
    const n = nextNumber();
    const path = `u/admin/asked_${n}`;
    const { url } = await create({ path, requires_auth: true });
    const bob = await server.member("acme", `bob${n}`);
    const stranger = await server.user(`stranger${n}`);
    expect(
      await statuses([
        ask("POST", url, {}),
        bob.ask("POST", url, {}),
        stranger.ask("POST", url, {}),
        nobody("POST", url, {}),
      ]),
    ).toEqual([200, 403, 401, 401]);
    const share = (kind: string, at: string) =>
      expectOk(ask("POST", `/w/acme/acls/add/${kind}/${at}`, { owner: `u/bob${n}`, write: false }));
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
    const at = `u/admin/api_key_${nextNumber()}`;
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
    expect((await ask("GET", `${HTTP_TRIGGERS}/get/${path}`)).text).not.toContain("secret-key");
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
    expect((await ask("POST", `${HTTP_TRIGGERS}/create`, away)).text).toContain(
      "may only refer to items below u/ann/",
    );
    await expectOk(ask("DELETE", `/w/acme/variables/delete/${at}`));
    expect((await nobody("POST", plain.url, {}, { "x-api-key": "other" })).status).toBe(500);
  });

  test("by a name and a password", async () => {
    const at = `u/admin/basic_${nextNumber()}`;
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
    const at = `u/admin/signing_${nextNumber()}`;
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

test("a route whose secret cannot be read yet is stored, and works once it is set", async () => {
  const at = `u/admin/sealed_${nextNumber()}`;
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
    expect([redirected.status, redirected.headers.get("location")]).toEqual([308, `./${url.slice(3)}/?x=1`]);
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
      `${HTTP_TRIGGERS}/create`,
      route({ http_method: "get", route_path: `${url.slice(3)}/*x` }),
    );
    expect(taken.status).toBe(400);
  });

  test("of a website for any name are not redirected to another host", async () => {
    const { url } = await create({
      http_method: "get",
      route_path: "sites/:name",
      is_static_website: true,
      static_asset_config: { s3: "site" },
      script_path: "",
    });
    const at = `${server.url}/api${url.replace(":name", "https:evil.example")}`;
    const { status, headers } = await fetch(at, { redirect: "manual" });
    expect([status, new URL(headers.get("location")!, at).href]).toEqual([308, `${at}/`]);
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
