/** Requests that get the console, and requests that get API responses as before. */
import { expect, test } from "bun:test";
import { startTestServer } from "../../support/harness.ts";

const BROWSER = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };

test("browsers get the console at any path without an operation; programs and the API do not", async () => {
  await using server = await startTestServer();
  const get = (path: string, headers: Record<string, string> = {}, method = "GET") =>
    fetch(server.url + path, { headers, method, redirect: "manual" });
  for (const path of ["/", "/w/acme/runs", "/a/b/c/d"]) {
    const answer = await get(path, BROWSER);
    expect([path, answer.status, answer.headers.get("cache-control")]).toEqual([path, 200, "no-store"]);
    const policy = answer.headers.get("content-security-policy")!;
    const page = await answer.text();
    expect(page).toContain(
      `src="${path === "/" ? "./" : "../".repeat(path.split("/").length - 2)}assets/main-`,
    );
    const [, nonce] = /nonce="([^"]+)"/.exec(page)!;
    expect(policy).toContain(`'nonce-${nonce}'`);
    expect(policy).not.toContain("unsafe");
    expect((await (await get(path, BROWSER)).text()).includes(nonce!)).toBe(false);
  }
  const toDocs = await get("/");
  expect([toDocs.status, toDocs.headers.get("location")]).toEqual([302, "/api/docs"]);
  for (const path of [
    "/w/acme/runs",
    "/api/nothing",
    "/api/r/nothing",
    "/assets/nothing.js",
    "/assets/../x",
  ]) {
    expect([path, (await get(path)).status]).toEqual([path, 404]);
  }
  expect((await get("/api/nothing", BROWSER)).status).toBe(404);
  expect((await get("/api/r/nothing", BROWSER)).status).toBe(404);
  expect((await get("/w/acme/runs", BROWSER, "POST")).status).toBe(404);
  expect((await get("/api/docs", BROWSER)).status).toBe(200);
});

test("a browser that opens the setup link is redirected to the console's page for it", async () => {
  await using server = await startTestServer();
  const link = (await server.server.setupPath())!;
  const asBrowser = await fetch(server.url + link, { headers: BROWSER, redirect: "manual" });
  expect([asBrowser.status, asBrowser.headers.get("location")]).toEqual([
    302,
    `../..${link.slice("/api".length)}`,
  ]);
  const plain = await fetch(server.url + link);
  expect(await plain.text()).toContain("<form");
});

test("without the console, everything else works", async () => {
  await using server = await startTestServer({ console: "off" });
  const get = (path: string) => fetch(server.url + path, { headers: BROWSER, redirect: "manual" });
  expect(await (await get("/")).text()).toContain("not set up yet");
  const form = await (await get((await server.server.setupPath())!)).text();
  await server.user("ann");
  const front = await get("/");
  expect([front.status, front.headers.get("location")]).toEqual([302, "/api/docs"]);
  for (const path of ["/w/acme/runs", "/assets/frame.html"]) expect((await get(path)).status).toBe(404);
  expect(form).toContain("<form");
});

test("the page that shows HTML of jobs runs none of it outside its sandbox, and can be framed by the console only", async () => {
  await using server = await startTestServer();
  const frame = await fetch(`${server.url}/assets/frame.html`);
  const policy = frame.headers.get("content-security-policy")!;
  expect(policy).toContain("sandbox allow-scripts; default-src 'none'; script-src 'sha256-");
  expect(policy).toContain("frame-ancestors 'self'");
  expect(frame.headers.get("x-frame-options")).toBe("SAMEORIGIN");
});
