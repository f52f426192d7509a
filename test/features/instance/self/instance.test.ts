/** The first requests of a client to an instance. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { VERSION } from "../../../../src/lib/version.ts";
import { expectOk, startTestServer, type TestServer } from "../../../support/harness.ts";

let server: TestServer;
let token: string;

beforeAll(async () => {
  server = await startTestServer();
  ({ token } = await server.user("ann"));
});
afterAll(() => server.stop());

const TEXT = "text/plain; charset=utf-8";

test.each([
  ["/version", `CE v1.423.2-svc.${VERSION}`],
  ["/uptodate", "unknown: the setting newest_version_url names no address to compare with"],
  ["/ee_license", ""],
])("%s returns a text, for a browser's cookie and a bearer token", async (path, says) => {
  const credentials: Record<string, string>[] = [
    { authorization: `Bearer ${token}` },
    { cookie: `token=${token}` },
  ];
  for (const headers of credentials) {
    const answer = await server.as(undefined)("GET", path, undefined, headers);
    expect([answer.status, answer.text]).toEqual([200, says]);
    expect(answer.headers.get("content-type")).toBe(TEXT);
  }
});

test("a setting hides the program's description from anonymous callers", async () => {
  const set = (value: boolean | null) =>
    expectOk(server.operator("POST", "/settings/global/open_description", { value }));
  await set(false);
  for (const path of ["/version", "/openapi.yaml", "/docs"]) {
    const got = [await server.as(undefined)("GET", path), await server.as(token)("GET", path)];
    expect([path, ...got.map(({ status }) => status)]).toEqual([path, 401, 200]);
  }
  await set(null);
  expect((await server.as(undefined)("GET", "/version")).status).toBe(200);
});

describe("the update check", () => {
  const ask = async () => (await expectOk(server.as(token)("GET", "/uptodate"))).text;
  const set = (value: string | null) =>
    expectOk(server.operator("POST", "/settings/global/newest_version_url", { value }));
  let asked = 0;
  const newest = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    fetch(request) {
      asked++;
      const { pathname, searchParams } = new URL(request.url);
      return new Response(searchParams.get("says"), { status: pathname === "/" ? 200 : 503 });
    },
  });
  afterAll(() => newest.stop(true));
  const at = (says: string, path = "/") =>
    `http://127.0.0.1:${newest.port}${path}?says=${encodeURIComponent(says)}`;

  test.each([
    [at(VERSION), "yes"],
    [at(`v${VERSION}\n`), "yes"],
    [at("0.0.9"), "yes"],
    [at("100.0.0"), `Update: ${VERSION} -> 100.0.0`],
    [at('{"tag_name":"v100.2.3"}'), `Update: ${VERSION} -> 100.2.3`],
    [at('{"version":"100.2.3-beta"}'), `Update: ${VERSION} -> 100.2.3`],
    [at("<html>"), "names no version"],
    [at("[]"), "names no version"],
    [at("null"), "names no version"],
    [at(VERSION, "/gone"), "answered with status 503"],
    ["http://127.0.0.1:1", "unknown: "],
  ])("returns %s: %s", async (url, says) => {
    await set(url);
    const before = asked;
    expect(await ask()).toContain(says);
    await ask();
    expect(asked - before).toBeLessThanOrEqual(1);
  });
});

test("the version and the API's description are public and agree; the license is not public", async () => {
  const nobody = server.as(undefined);
  const version = await nobody("GET", "/version");
  expect(version.text).toBe(`CE v1.423.2-svc.${VERSION}`);
  expect(version.headers.get("svc-version")).toBe(VERSION);
  const described = await nobody("GET", "/openapi.yaml");
  expect([described.status, described.headers.get("content-type")]).toEqual([
    200,
    expect.stringContaining("text/"),
  ]);
  expect(described.text).toContain("1.423.2");
  for (const path of ["/uptodate", "/ee_license"]) expect((await nobody("GET", path)).status).toBe(401);
});
